/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/ssl_common.h"
#include "tls/ssl_library.h"

void ssl_conn_info(const struct tls_conn *conn, struct tls_info *out)
{
    const SSL *ssl = conn->ssl;
    const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);
    const char *cipher_name = cipher != NULL ? SSL_CIPHER_get_name(cipher) : NULL;
    bool is_resumed = SSL_session_reused((SSL *)ssl) != 0;
    *out = (struct tls_info){
        .version = SSL_version(ssl) == TLS1_2_VERSION ? TLS_VERSION_12 : TLS_VERSION_13,
        .group = library_group_name(ssl),
        .cipher = cipher_name != NULL ? cipher_name : "",
        .signature = is_resumed ? "" : ssl_signature_name(conn->signature_code),
        .is_hrr = conn->is_hrr,
        .is_resumed = is_resumed,
        .early_data = conn->early_data,
    };
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/identity.h"
#include <stdlib.h>

void tls_identity_free(struct tls_identity *identity)
{
    if (identity == NULL)
        return;
    free(identity->key_pem);
    free(identity->chain_pem);
    free(identity->root_pem);
    *identity = (struct tls_identity){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "run/cause.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *cause_name(enum tls_cause cause)
{
    switch (cause) {
    case TLS_CAUSE_NONE:
        return "none";
    case TLS_CAUSE_ALERT_RECEIVED:
        return "alert";
    case TLS_CAUSE_ALERT_SENT:
        return "alert-sent";
    case TLS_CAUSE_VERIFY:
        return "verify";
    case TLS_CAUSE_EOF:
        return "eof";
    case TLS_CAUSE_IO:
        return "io";
    case TLS_CAUSE_NOT_TLS:
        return "not-tls";
    case TLS_CAUSE_VERSION:
        return "version";
    case TLS_CAUSE_PROTOCOL:
        return "protocol";
    case TLS_CAUSE_LOCAL:
        return "local";
    }
    return "none";
}

bool cause_is_local(enum tls_cause cause)
{
    return cause == TLS_CAUSE_LOCAL;
}

/* RFC 8446, 6; RFC 5246, 7.2 for the older ones. */
const char *cause_alert_name(int code)
{
    static const struct {
        int code;
        const char *name;
    } alerts[] = {
        /* table */
        {0, "close_notify"},
        {10, "unexpected_message"},
        {20, "bad_record_mac"},
        {21, "decryption_failed"},
        {22, "record_overflow"},
        {40, "handshake_failure"},
        {42, "bad_certificate"},
        {43, "unsupported_certificate"},
        {44, "certificate_revoked"},
        {45, "certificate_expired"},
        {46, "certificate_unknown"},
        {47, "illegal_parameter"},
        {48, "unknown_ca"},
        {49, "access_denied"},
        {50, "decode_error"},
        {51, "decrypt_error"},
        {70, "protocol_version"},
        {71, "insufficient_security"},
        {80, "internal_error"},
        {86, "inappropriate_fallback"},
        {90, "user_canceled"},
        {100, "no_renegotiation"},
        {109, "missing_extension"},
        {110, "unsupported_extension"},
        {112, "unrecognized_name"},
        {113, "bad_certificate_status_response"},
        {115, "unknown_psk_identity"},
        {116, "certificate_required"},
        {120, "no_application_protocol"},
    };
    for (size_t i = 0; i < sizeof alerts / sizeof alerts[0]; i++)
        if (alerts[i].code == code)
            return alerts[i].name;
    return NULL;
}

static void describe_alert(const char *sender, int code, char *buf, unsigned size)
{
    const char *name = cause_alert_name(code);
    if (name != NULL)
        snprintf(buf, size, "the %s sent alert %d (%s)", sender, code, name);
    else
        snprintf(buf, size, "the %s sent alert %d", sender, code);
}

char *cause_describe(const struct tls_failure *failure, const char *who, const char *peer,
                     char *buf, unsigned size)
{
    switch (failure->cause) {
    case TLS_CAUSE_NONE:
        snprintf(buf, size, "no failure");
        break;
    case TLS_CAUSE_ALERT_RECEIVED:
        describe_alert(peer, failure->code, buf, size);
        break;
    case TLS_CAUSE_ALERT_SENT:
        describe_alert(who, failure->code, buf, size);
        break;
    case TLS_CAUSE_VERIFY:
        snprintf(buf, size, "the %s refused the certificate", who);
        break;
    case TLS_CAUSE_EOF:
        snprintf(buf, size, "the %s ended the connection", peer);
        break;
    case TLS_CAUSE_IO:
        snprintf(buf, size, "the %s's transport failed: %s", who, strerror(failure->code));
        break;
    case TLS_CAUSE_NOT_TLS:
        snprintf(buf, size, "the %s does not speak TLS", peer);
        break;
    case TLS_CAUSE_VERSION:
        snprintf(buf, size, "no TLS version in common");
        break;
    case TLS_CAUSE_PROTOCOL:
        snprintf(buf, size, "the %s sent what the %s does not understand", peer, who);
        break;
    case TLS_CAUSE_LOCAL:
        snprintf(buf, size, "the %s's library failed", who);
        break;
    }
    return buf;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "result/result.h"

#include <assert.h>
#include <stdio.h>

#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

const char *result_kind_name(enum result_kind kind)
{
    static const char *const names[] = {"cpu", "load", "capacity"};
    assert((size_t)kind < COUNT_OF(names));
    return names[kind];
}

const char *result_side_name(enum result_side side)
{
    static const char *const names[] = {"client", "server"};
    assert((size_t)side < COUNT_OF(names));
    return names[side];
}

const char *result_severity_name(enum result_severity severity)
{
    static const char *const names[] = {"fault", "left-out", "note"};
    assert((size_t)severity < COUNT_OF(names));
    return names[severity];
}

const char *result_cpu_part_name(enum result_cpu_part part)
{
    static const char *const names[] = {"handshake", "setup", "teardown", "total"};
    assert((size_t)part < COUNT_OF(names));
    return names[part];
}

const char *result_phase_name(enum result_phase phase)
{
    static const char *const names[] = {"tcp", "tls", "ttfb", "ttlb", "response"};
    assert((size_t)phase < COUNT_OF(names));
    return names[phase];
}

const char *result_handshake_name(enum result_handshake handshake)
{
    static const char *const names[] = {"full", "resumed", "early_data"};
    assert((size_t)handshake < COUNT_OF(names));
    return names[handshake];
}

const char *result_verdict_name(enum result_verdict verdict)
{
    static const char *const names[] = {"slower",        "faster",       "more",    "fewer",
                                        "no-difference", "inconclusive", "withheld"};
    assert((size_t)verdict < COUNT_OF(names));
    return names[verdict];
}

/* RFC 8446 B.3 and the TLS HandshakeType registry. */
const char *result_message_name(unsigned type, char *buf, size_t size)
{
    static const struct {
        unsigned type;
        const char *name;
    } messages[] = {
        {0, "HelloRequest"},
        {1, "ClientHello"},
        {2, "ServerHello"},
        {4, "NewSessionTicket"},
        {5, "EndOfEarlyData"},
        {6, "HelloRetryRequest"},
        {8, "EncryptedExtensions"},
        {11, "Certificate"},
        {12, "ServerKeyExchange"},
        {13, "CertificateRequest"},
        {14, "ServerHelloDone"},
        {15, "CertificateVerify"},
        {16, "ClientKeyExchange"},
        {20, "Finished"},
        {22, "CertificateStatus"},
        {24, "KeyUpdate"},
        {25, "CompressedCertificate"},
    };
    for (size_t i = 0; i < COUNT_OF(messages); i++) {
        if (messages[i].type == type)
            return messages[i].name;
    }
    snprintf(buf, size, "type %u", type);
    return buf;
}

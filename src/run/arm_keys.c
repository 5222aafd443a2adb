/* SPDX-License-Identifier: Apache-2.0 */
/* The table of an arm's keys, and how each is read and written. */
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "base/units.h"
#include "run/arm.h"
#include "run/predict.h"
#include "tls/groups.h"

#define AUTO "auto"
#define FIRST "first"
#define DEFAULT_GROUPS "DEFAULT"
#define TICKETS_MAX 20u
#define SPIN_MAX_NS UINT64_C(1000000000)

static const char *const certificates[] = {
    "ecdsa-p256", "ecdsa-p384", "rsa-2048", "rsa-3072",
    "ed25519",    "mldsa44",    "mldsa65",  "mldsa87",
};

static const char *const chains[] = {
    [TLS_CHAIN_SELF_SIGNED] = "self-signed",
    [TLS_CHAIN_LEAF] = "leaf",
    [TLS_CHAIN_INTERMEDIATE] = "leaf+intermediate",
    [TLS_CHAIN_BARE] = "bare",
};

static int refuse(struct err *e, const char *value, const char *accepted)
{
    struct text shown = {0};
    text_add_harmless(&shown, value);
    err_set(e, ERR_USAGE, "'%.80s' is not accepted (accepted: %s)", text_str(&shown), accepted);
    text_free(&shown);
    return -1;
}

/* Copy a word whose characters are letters, digits and those of `more`. */
static int set_word(char *out, size_t size, const char *value, const char *more, struct err *e)
{
    char accepted[96];
    snprintf(accepted, sizeof accepted, "1 to %zu letters, digits and \"%s\"", size - 1, more);
    size_t length = strlen(value);
    if (length == 0 || length >= size)
        return refuse(e, value, accepted);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)value[i];
        if (c >= 0x80 || (!isalnum(c) && strchr(more, c) == NULL))
            return refuse(e, value, accepted);
    }
    memcpy(out, value, length + 1);
    return 0;
}

/* The same, where `word` stands for an empty text. */
static int set_word_or(char *out, size_t size, const char *value, const char *word,
                       struct err *e)
{
    if (strcmp(value, word) != 0)
        return set_word(out, size, value, ".+_-", e);
    out[0] = '\0';
    return 0;
}

static int set_groups_text(char *out, size_t size, const char *value, const char *word,
                           struct err *e)
{
    struct tls_group_list list;
    if (text_same_name(value, word)) {
        out[0] = '\0';
        return 0;
    }
    if (strlen(value) >= size)
        return refuse(e, value, "a list of at most 255 characters");
    if (tls_groups_parse(value, &list, e) != 0)
        return -1;
    memcpy(out, value, strlen(value) + 1);
    return 0;
}

static void get_word_or(const char *value, const char *word, char *buf, size_t size)
{
    snprintf(buf, size, "%s", value[0] != '\0' ? value : word);
}

static int set_groups(struct arm *arm, const char *value, struct err *e)
{
    return set_groups_text(arm->groups, sizeof arm->groups, value, DEFAULT_GROUPS, e);
}

static void get_groups(const struct arm *arm, char *buf, size_t size)
{
    get_word_or(arm->groups, DEFAULT_GROUPS, buf, size);
}

static int set_predict(struct arm *arm, const char *value, struct err *e)
{
    if (strcmp(value, AUTO) == 0) {
        arm->predict[0] = '\0';
        return 0;
    }
    if (predict_check(value, e) != 0)
        return -1;
    snprintf(arm->predict, sizeof arm->predict, "%s", value);
    return 0;
}

static void get_predict(const struct arm *arm, char *buf, size_t size)
{
    get_word_or(arm->predict, AUTO, buf, size);
}

static int set_server_groups(struct arm *arm, const char *value, struct err *e)
{
    return set_groups_text(arm->server_groups, sizeof arm->server_groups, value, AUTO, e);
}

static void get_server_groups(const struct arm *arm, char *buf, size_t size)
{
    get_word_or(arm->server_groups, AUTO, buf, size);
}

static int set_certificate(struct arm *arm, const char *value, struct err *e)
{
    for (size_t i = 0; i < sizeof certificates / sizeof certificates[0]; i++) {
        if (strcmp(value, certificates[i]) == 0) {
            snprintf(arm->certificate, sizeof arm->certificate, "%s", value);
            return 0;
        }
    }
    return refuse(e, value,
                  "ecdsa-p256, ecdsa-p384, rsa-2048, rsa-3072, ed25519, mldsa44, mldsa65, "
                  "mldsa87");
}

static void get_certificate(const struct arm *arm, char *buf, size_t size)
{
    snprintf(buf, size, "%s", arm->certificate);
}

static int set_chain(struct arm *arm, const char *value, struct err *e)
{
    for (unsigned i = 0; i < sizeof chains / sizeof chains[0]; i++) {
        if (strcmp(value, chains[i]) == 0) {
            arm->chain = (enum tls_chain)i;
            return 0;
        }
    }
    return refuse(e, value, "self-signed, leaf, leaf+intermediate, bare");
}

static void get_chain(const struct arm *arm, char *buf, size_t size)
{
    snprintf(buf, size, "%s", chains[arm->chain]);
}

static int set_cipher(struct arm *arm, const char *value, struct err *e)
{
    if (strcmp(value, AUTO) != 0)
        return set_word(arm->cipher, sizeof arm->cipher, value, "_-:", e);
    arm->cipher[0] = '\0';
    return 0;
}

static void get_cipher(const struct arm *arm, char *buf, size_t size)
{
    get_word_or(arm->cipher, AUTO, buf, size);
}

static int set_tls(struct arm *arm, const char *value, struct err *e)
{
    if (strcmp(value, "1.2") == 0)
        arm->tls = TLS_VERSION_12;
    else if (strcmp(value, "1.3") == 0)
        arm->tls = TLS_VERSION_13;
    else
        return refuse(e, value, "1.2, 1.3");
    return 0;
}

static void get_tls(const struct arm *arm, char *buf, size_t size)
{
    snprintf(buf, size, "%s", arm->tls == TLS_VERSION_12 ? "1.2" : "1.3");
}

static int set_resume(struct arm *arm, const char *value, struct err *e)
{
    return units_parse_share(value, &arm->resume, e);
}

static void get_resume(const struct arm *arm, char *buf, size_t size)
{
    units_format_number(arm->resume, buf, size);
}

static int parse_early_data(const char *value, uint64_t *out, struct err *e)
{
    if (units_parse_bytes(value, out, e) != 0)
        return -1;
    return *out > UINT32_MAX ? refuse(e, value, "at most 4294967295 bytes") : 0;
}

static int set_early_data(struct arm *arm, const char *value, struct err *e)
{
    uint64_t bytes;
    if (parse_early_data(value, &bytes, e) != 0)
        return -1;
    arm->early_data_bytes = (uint32_t)bytes;
    return 0;
}

static void get_early_data(const struct arm *arm, char *buf, size_t size)
{
    snprintf(buf, size, "%" PRIu32, arm->early_data_bytes);
}

static int set_bool(bool *out, const char *value, struct err *e)
{
    int is_on;
    if (units_parse_switch(value, &is_on, e) != 0)
        return -1;
    *out = is_on != 0;
    return 0;
}

static int set_server_early_data(struct arm *arm, const char *value, struct err *e)
{
    uint64_t bytes;
    if (strcmp(value, AUTO) == 0) {
        arm->server_early_data_bytes = -1;
        return 0;
    }
    if (parse_early_data(value, &bytes, e) != 0)
        return -1;
    arm->server_early_data_bytes = (int64_t)bytes;
    return 0;
}

static void get_server_early_data(const struct arm *arm, char *buf, size_t size)
{
    if (arm->server_early_data_bytes < 0)
        snprintf(buf, size, AUTO);
    else
        snprintf(buf, size, "%" PRId64, arm->server_early_data_bytes);
}

static int set_anti_replay(struct arm *arm, const char *value, struct err *e)
{
    return set_bool(&arm->anti_replay, value, e);
}

static void get_anti_replay(const struct arm *arm, char *buf, size_t size)
{
    snprintf(buf, size, "%s", arm->anti_replay ? "on" : "off");
}

static int set_tickets(struct arm *arm, const char *value, struct err *e)
{
    uint64_t count;
    if (strcmp(value, AUTO) == 0) {
        arm->tickets = -1;
        return 0;
    }
    if (units_parse_count(value, 0, TICKETS_MAX, &count, e) != 0)
        return -1;
    arm->tickets = (int)count;
    return 0;
}

static void get_tickets(const struct arm *arm, char *buf, size_t size)
{
    if (arm->tickets < 0)
        snprintf(buf, size, AUTO);
    else
        snprintf(buf, size, "%d", arm->tickets);
}

static int set_payload(struct arm *arm, const char *value, struct err *e)
{
    return units_parse_bytes(value, &arm->payload_bytes, e);
}

static void get_payload(const struct arm *arm, char *buf, size_t size)
{
    snprintf(buf, size, "%" PRIu64, arm->payload_bytes);
}

static int set_verify(struct arm *arm, const char *value, struct err *e)
{
    return set_bool(&arm->verify, value, e);
}

static void get_verify(const struct arm *arm, char *buf, size_t size)
{
    snprintf(buf, size, "%s", arm->verify ? "on" : "off");
}

static int set_sni(struct arm *arm, const char *value, struct err *e)
{
    return set_bool(&arm->sni, value, e);
}

static void get_sni(const struct arm *arm, char *buf, size_t size)
{
    snprintf(buf, size, "%s", arm->sni ? "on" : "off");
}

static int set_backend(struct arm *arm, const char *value, struct err *e)
{
    return set_word_or(arm->backend, sizeof arm->backend, value, AUTO, e);
}

static void get_backend(const struct arm *arm, char *buf, size_t size)
{
    get_word_or(arm->backend, AUTO, buf, size);
}

static int set_server_backend(struct arm *arm, const char *value, struct err *e)
{
    return set_word_or(arm->server_backend, sizeof arm->server_backend, value, AUTO, e);
}

static void get_server_backend(const struct arm *arm, char *buf, size_t size)
{
    get_word_or(arm->server_backend, AUTO, buf, size);
}

static int set_baseline(struct arm *arm, const char *value, struct err *e)
{
    return set_word_or(arm->baseline, sizeof arm->baseline, value, FIRST, e);
}

static void get_baseline(const struct arm *arm, char *buf, size_t size)
{
    get_word_or(arm->baseline, FIRST, buf, size);
}

static int set_spin(uint64_t *out, const char *value, struct err *e)
{
    uint64_t ns;
    if (units_parse_duration_ns(value, &ns, e) != 0)
        return -1;
    if (ns > SPIN_MAX_NS)
        return refuse(e, value, "at most 1s");
    *out = ns;
    return 0;
}

static int set_null_client(struct arm *arm, const char *value, struct err *e)
{
    return set_spin(&arm->null_work.client_spin_ns, value, e);
}

static void get_null_client(const struct arm *arm, char *buf, size_t size)
{
    units_format_duration_exact(arm->null_work.client_spin_ns, buf, size);
}

static int set_null_server(struct arm *arm, const char *value, struct err *e)
{
    return set_spin(&arm->null_work.server_spin_ns, value, e);
}

static void get_null_server(const struct arm *arm, char *buf, size_t size)
{
    units_format_duration_exact(arm->null_work.server_spin_ns, buf, size);
}

static int set_null_delay(struct arm *arm, const char *value, struct err *e)
{
    return set_spin(&arm->null_work.delay_ns, value, e);
}

static void get_null_delay(const struct arm *arm, char *buf, size_t size)
{
    units_format_duration_exact(arm->null_work.delay_ns, buf, size);
}

static int set_null_share(struct arm *arm, const char *value, struct err *e)
{
    return units_parse_share(value, &arm->null_work.delay_share, e);
}

static void get_null_share(const struct arm *arm, char *buf, size_t size)
{
    units_format_number(arm->null_work.delay_share, buf, size);
}

/* clang-format off */
static const struct arm_key keys[] = { /* table */
    {"groups", "LIST", DEFAULT_GROUPS,
     "groups the client offers: ':' between, '*' sends a key share, '?' optional; DEFAULT: the library's list",
     set_groups, get_groups},
    {"server-groups", "LIST", AUTO,
     "groups the embedded server accepts, '/' between tuples; auto: all the client offers, in its order",
     set_server_groups, get_server_groups},
    {"predict", "HOW", AUTO,
     "send one key share, the server's choice as told by: dns, dns:SCHEME (SVCB), a list (4588,29 or names), off; auto: as --predict says",
     set_predict, get_predict},
    {"cert", "KIND", "ecdsa-p256",
     "the server's certificate: ecdsa-p256, ecdsa-p384, rsa-2048, rsa-3072, ed25519, mldsa44, mldsa65, mldsa87",
     set_certificate, get_certificate},
    {"chain", "SHAPE", "self-signed", "what the server sends: self-signed, leaf, leaf+intermediate, bare (self-signed, no extensions)",
     set_chain, get_chain},
    {"cipher", "LIST", AUTO, "cipher suites; auto: AES-256-GCM with SHA-384", set_cipher, get_cipher},
    {"tls", "VERSION", "1.3", "the only version offered and accepted: 1.2, 1.3", set_tls, get_tls},
    {"resume", "SHARE", "0", "share of connections that try to resume a session, 0 to 1",
     set_resume, get_resume},
    {"early-data", "BYTES", "0", "early data (0-RTT) in a resumed connection", set_early_data,
     get_early_data},
    {"server-early-data", "BYTES", AUTO, "early data the embedded server takes; auto: as early-data",
     set_server_early_data, get_server_early_data},
    {"anti-replay", "on|off", "on", "the server takes a ticket's early data once, and keeps state for it",
     set_anti_replay, get_anti_replay},
    {"tickets", "COUNT", AUTO, "tickets after a full handshake; auto: 0, or 2 where the arm resumes",
     set_tickets, get_tickets},
    {"payload", "BYTES", "0", "response body; 0: the three bytes \"OK\\n\"", set_payload, get_payload},
    {"verify", "on|off", "on", "the client verifies the certificate, as real clients do", set_verify,
     get_verify},
    {"sni", "on|off", "on", "the client names the server (and then verifies the name)", set_sni, get_sni},
    {"backend", "NAME", AUTO, "TLS library of the client, \"openssl-3.5\"; auto: OpenSSL 3.5, else the newest; in a load the cheapest that can do all arms",
     set_backend, get_backend},
    {"server-backend", "NAME", AUTO, "TLS library of the embedded server; auto: the client's; in a load OpenSSL 3.5, else the newest",
     set_server_backend, get_server_backend},
    {"baseline", "ARM", FIRST, "the arm to compare with; an arm that names itself is one",
     set_baseline, get_baseline},
    {"null-client", "TIME", "0s", "null backend: CPU the client burns per handshake", set_null_client,
     get_null_client},
    {"null-server", "TIME", "0s", "null backend: CPU the server burns per handshake", set_null_server,
     get_null_server},
    {"null-delay", "TIME", "0s", "null backend: more CPU at the server, in a share of handshakes",
     set_null_delay, get_null_delay},
    {"null-delay-share", "SHARE", "0", "null backend: that share, 0 to 1", set_null_share, get_null_share},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};
/* clang-format on */

const struct arm_key *arm_keys(void)
{
    return keys;
}

static const struct arm_key *find_key(const char *name)
{
    for (const struct arm_key *key = keys; key->name != NULL; key++)
        if (strcmp(key->name, name) == 0)
            return key;
    return NULL;
}

static int refuse_key(const char *name, struct err *e)
{
    struct text accepted = {0}, shown = {0};
    text_add_harmless(&shown, name);
    for (const struct arm_key *key = keys; key->name != NULL; key++)
        text_addf(&accepted, "%s%s", key == keys ? "" : ", ", key->name);
    err_set(e, ERR_USAGE, "'%.40s': no such key (accepted: %s)", text_str(&shown),
            text_str(&accepted));
    text_free(&accepted);
    text_free(&shown);
    return -1;
}

static bool is_visible(const char *value)
{
    for (; *value != '\0'; value++)
        if (*value <= ' ' || *value > '~')
            return false;
    return true;
}

int arm_set(struct arm *arm, const char *key, const char *value, struct err *e)
{
    const struct arm_key *found = find_key(key);
    if (found == NULL)
        return refuse_key(key, e);
    struct arm before = *arm; /* a refused value leaves no trace */
    if (!is_visible(value))   /* whoever refuses it repeats it as it is */
        refuse(e, value, "visible ASCII characters");
    else if (found->set(arm, value, e) == 0)
        return 0;
    *arm = before;
    return err_add_context(e, "%s", key);
}

char *arm_get(const struct arm *arm, const char *key, char *buf, size_t size)
{
    const struct arm_key *found = find_key(key);
    assert(found != NULL);
    found->get(arm, buf, size);
    return buf;
}

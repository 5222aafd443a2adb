/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns.h"
#include <errno.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/nameser.h>
#include <sys/random.h>
#include "base/text.h"

#define PAYLOAD_BYTES 1232u /* what passes every path unfragmented */
#define TYPE_OPT 41u
#define OPT_BYTES 11u
#define TRY_S 2
#define TRIES 2
#define HTTPS_PORT 443u

static const char no_answer_text[] = "no answer that can be used";

/* Use one resolver, of whatever family.  An address that does not fit in the old list goes
 * where the C library keeps those itself; res_nclose frees it. */
static void use_resolver(struct __res_state *state, const struct address *resolver)
{
    for (int i = 0; i < MAXNS; i++) {
        free(state->_u._ext.nsaddrs[i]);
        state->_u._ext.nsaddrs[i] = NULL;
    }
    state->_u._ext.nscount = 0;
    state->nscount = 1;
    memset(&state->nsaddr_list[0], 0, sizeof(state->nsaddr_list[0]));
    if (resolver->u.any.sa_family == AF_INET) {
        state->nsaddr_list[0] = resolver->u.v4;
    } else {
        state->_u._ext.nsaddrs[0] = mem_alloc_zeroed(1, sizeof(struct sockaddr_in6));
        *state->_u._ext.nsaddrs[0] = resolver->u.v6;
    }
}

static int open_resolver(struct __res_state *state, const struct address *resolver,
                         struct err *e)
{
    memset(state, 0, sizeof(*state));
    if (res_ninit(state) != 0)
        return err_set(e, ERR_SYSTEM, "the system's resolver cannot be used");
    if (resolver != NULL)
        use_resolver(state, resolver);
    state->retrans = TRY_S;
    state->retry = TRIES;
    return 0;
}

/* RFC 6891: the root's name, OPT, how much can be taken, no flags, no options. */
static size_t add_opt(uint8_t *query, size_t length)
{
    uint8_t opt[OPT_BYTES] = {0, 0, TYPE_OPT, PAYLOAD_BYTES >> 8, PAYLOAD_BYTES & 0xff};
    memcpy(query + length, opt, sizeof(opt));
    query[NS_HFIXEDSZ - 1] = 1; /* one additional record */
    return length + sizeof(opt);
}

/* The length, or -1. */
static int make_query(struct __res_state *state, const char *name, enum dns_type type,
                      uint8_t query[NS_PACKETSZ], struct err *e)
{
    int n = res_nmkquery(state, ns_o_query, name, ns_c_in, (int)type, NULL, 0, NULL, query,
                         NS_PACKETSZ - (int)OPT_BYTES);
    if (n < NS_HFIXEDSZ)
        return err_set(e, ERR_USAGE, "'%.120s' is no name to look up", name);
    if (getrandom(query, 2, 0) != 2)
        return err_set_errno(e, "random numbers");
    return n;
}

/* The length of the answer, or -1. */
static int exchange(struct __res_state *state, const uint8_t *query, int length,
                    uint8_t *answer, struct err *e)
{
    errno = 0;
    int n = res_nsend(state, query, length, answer, NS_MAXMSG);
    if (n >= NS_HFIXEDSZ)
        return n;
    if (errno == 0 || errno == ETIMEDOUT)
        return err_set(e, ERR_FAILED, "%s", no_answer_text);
    const int code = errno;
    return err_set(e, ERR_FAILED, "%s (%s)", no_answer_text, strerror(code));
}

/* A server that does not know EDNS0 says so, and is asked without. */
static int ask(struct __res_state *state, const char *name, enum dns_type type, uint8_t *answer,
               struct err *e)
{
    uint8_t query[NS_PACKETSZ];
    int plain = make_query(state, name, type, query, e);
    if (plain < 0)
        return -1;
    int n = exchange(state, query, (int)add_opt(query, (size_t)plain), answer, e);
    if (n < 0 || (answer[3] & 0x0f) != ns_r_formerr)
        return n;
    query[NS_HFIXEDSZ - 1] = 0;
    return exchange(state, query, plain, answer, e);
}

static int lookup_with(struct __res_state *state, const char *name, enum dns_type type,
                       struct dns_answer *out, struct err *e)
{
    char asked[SVCB_NAME_SIZE];
    uint8_t *message = mem_alloc_zeroed(NS_MAXMSG, 1);
    int status = -1;
    snprintf(asked, sizeof(asked), "%s", name);
    for (unsigned step = 0;; step++) {
        int n = ask(state, asked, type, message, e);
        if (n < 0 || dns_answer_read(message, (size_t)n, asked, type, out, e) != 0)
            break;
        if (!out->is_elsewhere || step == DNS_STEPS_MAX) {
            if (out->is_elsewhere)
                snprintf(out->reason, sizeof(out->reason),
                         "more than 8 aliases one after the other");
            status = 0;
            break;
        }
        memcpy(asked, out->name, sizeof(asked));
    }
    free(message);
    return status;
}

int dns_lookup(const struct address *resolver, const char *name, enum dns_type type,
               struct dns_answer *out, struct err *e)
{
    struct __res_state state;
    struct text shown = {0};
    if (open_resolver(&state, resolver, e) != 0)
        return -1;
    int status = lookup_with(&state, name, type, out, e);
    res_nclose(&state);
    if (status == 0)
        return 0;
    text_add_harmless(&shown, name);
    err_add_context(e, "DNS: %.200s", text_str(&shown));
    text_free(&shown);
    return -1;
}

int dns_service_name(const char *host, unsigned port, const char *scheme, char *out,
                     size_t size, struct err *e)
{
    int n =
        scheme == NULL && port == HTTPS_PORT
            ? snprintf(out, size, "%s", host)
            : snprintf(out, size, "_%u._%s.%s", port, scheme != NULL ? scheme : "https", host);
    if (n > 0 && (size_t)n < size && (size_t)n <= ADDRESS_HOST_MAX + 1)
        return 0;
    return err_set(e, ERR_USAGE, "'%.80s' is too long a name to look up", host);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A DNS message as the answer to one question. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/nameser.h>
#include <resolv.h>
#include "base/text.h"
#include "net/dns.h"

#define TYPE_CNAME 5u

static int no_answer(struct err *e, const char *what)
{
    return err_set(e, ERR_FAILED, "the answer cannot be used: %s", what);
}

static int give_reason(struct dns_answer *out, const char *reason)
{
    dns_answer_free(out);
    snprintf(out->reason, sizeof(out->reason), "%s", reason);
    return 0;
}

static int check_question(ns_msg *message, const char *name, enum dns_type type, struct err *e)
{
    ns_rr question;
    if (!ns_msg_getflag(*message, ns_f_qr) || ns_msg_getflag(*message, ns_f_opcode) != 0)
        return no_answer(e, "not an answer to a query");
    if (ns_msg_count(*message, ns_s_qd) != 1 ||
        ns_parserr(message, ns_s_qd, 0, &question) != 0 ||
        !text_same_name(ns_rr_name(question), name) ||
        (unsigned)ns_rr_type(question) != (unsigned)type || ns_rr_class(question) != ns_c_in)
        return no_answer(e, "another question");
    if (ns_msg_getflag(*message, ns_f_tc))
        return no_answer(e, "it is cut off");
    return 0;
}

/* Where a CNAME of out->name leads: 1 and the name there, 0 for none. */
static int follow_cname(ns_msg *message, struct dns_answer *out, struct err *e)
{
    ns_rr rr;
    for (int i = 0; i < ns_msg_count(*message, ns_s_an); i++) {
        if (ns_parserr(message, ns_s_an, i, &rr) != 0)
            return no_answer(e, "a malformed record in it");
        if ((unsigned)ns_rr_type(rr) != TYPE_CNAME || ns_rr_class(rr) != ns_c_in ||
            !text_same_name(ns_rr_name(rr), out->name))
            continue;
        if (dn_expand(ns_msg_base(*message), ns_msg_end(*message), ns_rr_rdata(rr), out->name,
                      (int)sizeof(out->name)) < 0)
            return no_answer(e, "a malformed CNAME in it");
        return 1;
    }
    return 0;
}

static void add_record(struct dns_answer *out, const struct svcb *record)
{
    size_t at = out->records++;
    for (; at > 0 && out->record[at - 1].priority > record->priority; at--)
        out->record[at] = out->record[at - 1];
    out->record[at] = *record;
}

/* All records of out->name.  One that is malformed spoils the set (RFC 9460, 2.2), which is
 * then a reason. */
static int read_records(ns_msg *message, enum dns_type type, struct dns_answer *out,
                        struct err *e)
{
    ns_rr rr;
    for (int i = 0; i < ns_msg_count(*message, ns_s_an); i++) {
        struct svcb record;
        struct err why = ERR_INIT;
        if (ns_parserr(message, ns_s_an, i, &rr) != 0)
            return no_answer(e, "a malformed record in it");
        if ((unsigned)ns_rr_type(rr) != (unsigned)type || ns_rr_class(rr) != ns_c_in ||
            !text_same_name(ns_rr_name(rr), out->name))
            continue;
        if (out->records == DNS_RECORDS_MAX)
            return give_reason(out, "more than 64 records");
        if (svcb_read(ns_rr_rdata(rr), ns_rr_rdlen(rr), &record, &why) != 0)
            return give_reason(out, why.text);
        add_record(out, &record);
    }
    return 0;
}

/* Aliases come first, by priority; beside one, records of services do not count. */
static void settle_alias(struct dns_answer *out)
{
    if (out->records == 0 || out->record[0].priority != SVCB_ALIAS)
        return;
    char target[SVCB_NAME_SIZE];
    memcpy(target, out->record[0].target, sizeof(target));
    if (strcmp(target, ".") == 0) {
        (void)give_reason(out, "the record says that there is no such service");
        return;
    }
    dns_answer_free(out);
    memcpy(out->name, target, sizeof(target));
    out->is_elsewhere = true;
}

/* Records with mandatory keys that are not known here do not count. */
static void drop_foreign(struct dns_answer *out)
{
    size_t kept = 0;
    unsigned foreign = 0;
    for (size_t i = 0; i < out->records; i++) {
        if (out->record[i].foreign_key == 0) {
            out->record[kept++] = out->record[i];
            continue;
        }
        foreign = out->record[i].foreign_key;
        svcb_free(&out->record[i]);
    }
    out->records = kept;
    if (kept == 0 && foreign != 0)
        snprintf(out->reason, sizeof(out->reason), "key %u is mandatory, and not known here",
                 foreign);
}

static int read_answer(ns_msg *message, enum dns_type type, struct dns_answer *out,
                       struct err *e)
{
    unsigned steps = 0;
    int moved = 1;
    while (moved == 1) {
        moved = follow_cname(message, out, e);
        if (moved < 0)
            return -1;
        steps += (unsigned)moved;
        if (steps > DNS_STEPS_MAX)
            return give_reason(out, "more than 8 aliases one after the other");
    }
    if (ns_msg_getflag(*message, ns_f_rcode) == ns_r_nxdomain)
        return give_reason(out, "no such name");
    if (read_records(message, type, out, e) != 0)
        return -1;
    if (out->records == 0 && out->reason[0] == '\0') {
        (void)give_reason(out, "no such record");
        out->is_elsewhere = steps > 0; /* a CNAME leads there */
    }
    settle_alias(out);
    drop_foreign(out);
    return 0;
}

int dns_answer_read(const uint8_t *message, size_t length, const char *name, enum dns_type type,
                    struct dns_answer *out, struct err *e)
{
    ns_msg parsed;
    memset(out, 0, sizeof(*out));
    snprintf(out->name, sizeof(out->name), "%s", name);
    if (length > NS_MAXMSG || ns_initparse(message, (int)length, &parsed) != 0)
        return no_answer(e, "malformed");
    if (check_question(&parsed, name, type, e) != 0)
        return -1;
    unsigned code = (unsigned)ns_msg_getflag(parsed, ns_f_rcode);
    if (code != ns_r_noerror && code != ns_r_nxdomain)
        return err_set(e, ERR_FAILED, "the resolver answers with error %u", code);
    if (read_answer(&parsed, type, out, e) == 0)
        return 0;
    dns_answer_free(out);
    return -1;
}

void dns_answer_free(struct dns_answer *answer)
{
    for (size_t i = 0; i < answer->records; i++)
        svcb_free(&answer->record[i]);
    answer->records = 0;
}

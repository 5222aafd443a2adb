/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader must know before he believes the figures.  CPU time is compared between
 * turns that alternate within seconds, so what slows the whole machine (steal, throttling,
 * another clock rate) is common to the arms: it moves the absolute figures and widens the
 * intervals, and is a note; only so much of it that medians give way is a fault. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "base/host.h"
#include "run/bench_lab.h"
#include "run/cause.h"
#include "stats/sample.h"
#include "tls/groups.h"

#define ERRORS_MAX 0.001
#define STEAL_NOTED 0.01
#define STEAL_MAX 0.10 /* a median of 40 handshakes does not see less than that */
#define THROTTLED_NOTED 0.01
#define SPEED_CHANGE_MAX 0.10
#define CLOCK_COST_NOTED_NS 2000.0
#define CLOCK_STEP_MAX_NS 5000u
#define RESUMED_MIN 0.9 /* of the sessions offered */
#define MESSAGE_SIZE 480u

static void add(struct bench *b, enum result_severity severity, const char *code, size_t arm,
                const char *message)
{
    const char *name = arm < b->arms ? b->options->arms->arm[arm].name : NULL;
    result_add_problem(b->result, severity, code, name, 0, message);
}

static void find_place(struct bench *b)
{
    char message[MESSAGE_SIZE];
    struct cpu_set client = {.count = 1}, server = {.count = 1};
    client.core[0] = b->options->client_cores.core[0];
    server.core[0] = b->options->server_cores.core[0];
    if (cpu_share_physical_core(&client, &server)) {
        snprintf(message, sizeof message,
                 "client and server ran on the same physical core (%u, %u): each finds the "
                 "caches as the other left them",
                 client.core[0], server.core[0]);
        add(b, RESULT_NOTE, "shared-cores", b->arms, message);
    }
    if (b->result->clock_cost_ns > CLOCK_COST_NOTED_NS) {
        snprintf(message, sizeof message,
                 "reading a thread's CPU clock costs %.0f ns here; it is subtracted, but its "
                 "scatter stays",
                 b->result->clock_cost_ns);
        add(b, RESULT_NOTE, "clock", b->arms, message);
    }
    struct host_facts facts;
    host_read_facts(&facts);
    if (facts.clock_resolution_ns > CLOCK_STEP_MAX_NS) {
        snprintf(message, sizeof message,
                 "the clock %s moves in steps of %llu ns: too coarse for one handshake",
                 facts.clocksource, (unsigned long long)facts.clock_resolution_ns);
        add(b, RESULT_FAULT, "clock", b->arms, message);
    }
}

static void find_losses(struct bench *b, const struct result_trial *t)
{
    char message[MESSAGE_SIZE];
    if (t->steal > STEAL_NOTED) {
        bool is_fault = t->steal > STEAL_MAX;
        snprintf(message, sizeof message,
                 "repeat %u: the hypervisor took %.1f %% of the cores' time; %s", t->index,
                 t->steal * 100,
                 is_fault ? "even medians give way to that"
                          : "it counts as CPU time here, and the arms alternate, so medians "
                            "and differences stand");
        result_add_problem(b->result, is_fault ? RESULT_FAULT : RESULT_NOTE, "steal", NULL,
                           t->index, message);
    }
    if (t->throttled > THROTTLED_NOTED) {
        snprintf(message, sizeof message,
                 "repeat %u: the control group's quota stopped us for %.1f %% of the time, "
                 "which is no CPU time but leaves cold caches",
                 t->index, t->throttled * 100);
        result_add_problem(b->result, RESULT_NOTE, "throttled", NULL, t->index, message);
    }
}

/* Against the median of all readings, so that one slow repeat does not accuse the others. */
static void find_speed(struct bench *b, const struct result_arm *arm)
{
    char message[MESSAGE_SIZE];
    double *ns = mem_alloc_zeroed(2 * arm->trials, sizeof *ns);
    for (size_t k = 0; k < arm->trials; k++) {
        ns[2 * k] = arm->trial[k].speed_before_ns;
        ns[2 * k + 1] = arm->trial[k].speed_after_ns;
    }
    double usual = sample_median(ns, 2 * arm->trials);
    for (size_t k = 0; k < arm->trials; k++) {
        const struct result_trial *t = &arm->trial[k];
        double worst = fabs(t->speed_before_ns - usual) > fabs(t->speed_after_ns - usual)
                           ? t->speed_before_ns
                           : t->speed_after_ns;
        if (fabs(worst - usual) <= SPEED_CHANGE_MAX * usual)
            continue;
        snprintf(message, sizeof message,
                 "repeat %u: at one end of it fixed work took %.2f times as long as usual; "
                 "absolute times are those of a changing core, differences are between turns "
                 "that alternate",
                 t->index, worst / usual);
        result_add_problem(b->result, RESULT_NOTE, "speed-changed", NULL, t->index, message);
    }
    free(ns);
}

static void find_errors(struct bench *b, size_t i)
{
    const struct result_arm *arm = &b->result->arm[i];
    char message[MESSAGE_SIZE], why[300];
    for (size_t k = 0; k < arm->trials; k++) {
        const struct result_tally *t = &arm->trial[k].tally;
        uint64_t bad = t->scheduled - t->completed;
        if ((double)bad <= ERRORS_MAX * (double)t->scheduled)
            continue;
        snprintf(message, sizeof message, "%llu of %llu handshakes did not complete: %s",
                 (unsigned long long)bad, (unsigned long long)t->scheduled,
                 bench_explain_failure(&b->arm[i], &b->arm[i].kept, why, sizeof why));
        result_add_problem(b->result, RESULT_FAULT, "errors", arm->name, arm->trial[k].index,
                           message);
    }
}

/* The arm's only group; NULL where it offers several. */
static const struct tls_group *only_group(const struct arm *arm)
{
    struct tls_group_list list;
    const struct tls_group *only = NULL;
    if (arm->groups[0] == '\0' || tls_groups_parse(arm->groups, &list, NULL) != 0 ||
        list.is_default)
        return NULL;
    for (size_t i = 0; i < list.count; i++) {
        if (list.entry[i].group == NULL)
            continue;
        if (only != NULL)
            return NULL;
        only = list.entry[i].group;
    }
    return only;
}

static void find_wrong_group(struct bench *b, size_t i)
{
    char message[MESSAGE_SIZE];
    const struct tls_group *only = only_group(b->arm[i].plan.arm);
    const struct seen_names *groups = &b->arm[i].kept.group;
    for (unsigned k = 0; only != NULL && k < groups->used; k++) {
        const char *name = groups->entry[k].name;
        if (name[0] == '\0' || tls_group_by_name(name) == only)
            continue;
        snprintf(message, sizeof message,
                 "%llu handshakes agreed on %s, and the arm offers %s alone",
                 (unsigned long long)groups->entry[k].count, name, only->name);
        add(b, RESULT_FAULT, "wrong-group", i, message);
    }
}

/* A server asks again where its choice has no share in the hello.  With a list of its own
 * that is what the arm wants; with the client's list in the client's order it is not, and
 * never for a share that was sent.  A prediction may be wrong: predict_tell says so. */
static void find_hrr(struct bench *b, size_t i)
{
    char message[MESSAGE_SIZE];
    const struct bench_arm *a = &b->arm[i];
    const struct arm *arm = a->plan.arm;
    bool is_possible = arm->server_groups[0] != '\0' || arm->prediction.share[0] != '\0';
    bool is_wanted = is_possible && a->kept.hrr_for_a_share_sent == 0;
    if (a->kept.hrr == 0 || is_wanted)
        return;
    snprintf(message, sizeof message,
             "%llu of %llu handshakes took a HelloRetryRequest, which %s",
             (unsigned long long)a->kept.hrr, (unsigned long long)a->kept.completed,
             a->kept.hrr_for_a_share_sent > 0 ? "asked for a share that had been sent"
                                              : "the arm's lists do not imply");
    add(b, RESULT_FAULT, "unexpected-hrr", i, message);
}

static void find_resumption(struct bench *b, size_t i)
{
    char message[MESSAGE_SIZE];
    const struct bench_arm *a = &b->arm[i];
    const struct seen *s = &a->kept;
    if (a->plan.arm->resume <= 0) {
        if (s->resumed == 0)
            return;
        snprintf(message, sizeof message, "%llu handshakes resumed a session unasked",
                 (unsigned long long)s->resumed);
        add(b, RESULT_FAULT, "unexpected-resumption", i, message);
        return;
    }
    if (s->offered > 0 && (double)s->resumed >= RESUMED_MIN * (double)s->offered)
        return;
    snprintf(
        message, sizeof message, "%llu of %llu handshakes offered a session, %llu resumed%s",
        (unsigned long long)s->offered, (unsigned long long)s->completed,
        (unsigned long long)s->resumed, s->offered == 0 ? ": not possible: no ticket" : "");
    add(b, RESULT_FAULT, "not-resumed", i, message);
}

void bench_find_problems(struct bench *b)
{
    find_place(b);
    const struct result_arm *first =
        &b->result->arm[0]; /* conditions are the arms' in common */
    for (size_t k = 0; k < first->trials; k++)
        find_losses(b, &first->trial[k]);
    find_speed(b, first);
    for (size_t i = 0; i < b->arms; i++) {
        find_errors(b, i);
        find_wrong_group(b, i);
        find_hrr(b, i);
        find_resumption(b, i);
    }
}

/* In TLS 1.2 the client's groups also say which curves it takes in certificates (RFC 8422,
 * 5.1.1): the curve that the certificate needs and the list lacks, or NULL. */
static const char *missing_curve(const struct arm *arm)
{
    struct tls_group_list list;
    const char *curve = strcmp(arm->certificate, "ecdsa-p256") == 0   ? "secp256r1"
                        : strcmp(arm->certificate, "ecdsa-p384") == 0 ? "secp384r1"
                                                                      : NULL;
    if (curve == NULL || arm->tls != TLS_VERSION_12 || arm->groups[0] == '\0' ||
        tls_groups_parse(arm->groups, &list, NULL) != 0 || list.is_default)
        return NULL;
    for (size_t i = 0; i < list.count; i++)
        if (list.entry[i].group == tls_group_by_name(curve))
            return NULL;
    return curve;
}

static bool is_group_in_common(const struct arm_plan *plan)
{
    struct tls_group_list client, server;
    if (plan->arm->groups[0] == '\0' || plan->server_groups[0] == '\0' ||
        tls_groups_parse(plan->arm->groups, &client, NULL) != 0 ||
        tls_groups_parse(plan->server_groups, &server, NULL) != 0 || client.is_default ||
        server.is_default)
        return true;
    for (size_t i = 0; i < client.count; i++)
        for (size_t k = 0; k < server.count; k++)
            if (client.entry[i].group != NULL && client.entry[i].group == server.entry[k].group)
                return true;
    return false;
}

/* What the arm's settings say about a refusal; empty where nothing. */
static void add_hint(const struct arm_plan *plan, struct text *out)
{
    const char *curve = missing_curve(plan->arm);
    if (!is_group_in_common(plan))
        text_addf(out, ": no group in common: client offers %s, server has %s",
                  plan->arm->groups, plan->server_groups);
    else if (curve != NULL)
        text_addf(out, ": in TLS 1.2 cert=%s needs %s in groups as well (has: %s)",
                  plan->arm->certificate, curve, plan->arm->groups);
}

char *bench_explain_failure(const struct bench_arm *arm, const struct seen *seen, char *buf,
                            size_t size)
{
    static const char *const names[] = {[DUPLEX_CLIENT] = "client", [DUPLEX_SERVER] = "server"};
    const struct seen_failure *most = NULL;
    struct text why = {0};
    char words[120];
    for (unsigned i = 0; i < seen->failures; i++)
        if (most == NULL || seen->failure[i].count > most->count)
            most = &seen->failure[i];
    if (most == NULL || most->is_timeout) {
        text_add(&why, most == NULL ? "none was begun" : "no answer in time");
    } else {
        text_add(&why, cause_describe(&most->failure, names[most->side], names[1 - most->side],
                                      words, sizeof words));
        size_t length = why.length;
        add_hint(&arm->plan, &why);
        if (why.length == length && most->failure.detail[0] != '\0') {
            text_add(&why, ": ");
            text_add_harmless(&why, most->failure.detail);
        }
    }
    snprintf(buf, size, "%s", text_str(&why));
    text_free(&why);
    return buf;
}

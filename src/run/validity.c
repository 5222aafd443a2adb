/* SPDX-License-Identifier: Apache-2.0 */
#include "run/validity.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "tls/groups.h"

#define MESSAGE_SIZE 256
#define PERCENT(share) (100.0 * (share))

static void add(const struct validity_trial *v, struct result *result, const char *code,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

static void add(const struct validity_trial *v, struct result *result, const char *code,
                const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    result_add_problem(result, RESULT_FAULT, code, v->arm, v->trial->index, message);
}

static double lag_limit_ns(const struct validity_trial *v)
{
    const struct histogram *tls = v->trial->latency_ns[RESULT_PHASE_TLS];
    const double least_ns = fmax(VALIDITY_LAG_MIN_NS, v->lag_allowed_ns);
    if (tls == NULL || histogram_count(tls) == 0)
        return least_ns;
    return fmax(least_ns, VALIDITY_LAG_SHARE_OF_TLS * (double)histogram_quantile(tls, 0.5));
}

static double lag_p99_ns(const struct result_trial *t)
{
    if (t->start_lag_ns == NULL || histogram_count(t->start_lag_ns) == 0)
        return 0;
    return (double)histogram_quantile(t->start_lag_ns, 0.99);
}

static double started_share(const struct result_tally *t)
{
    return t->scheduled == 0 ? 1.0
                             : (double)(t->scheduled - t->not_started) / (double)t->scheduled;
}

/* Who could not keep up: a busy worker is the client's fault, a full in-flight limit or
 * busy cores of the server are the server's. */
static void check_saturation(const struct validity_trial *v, struct result *result)
{
    const struct result_trial *t = v->trial;
    const double lag_ns = lag_p99_ns(t), limit_ns = lag_limit_ns(v);
    const double started = started_share(&t->tally);
    const bool is_busy = v->busiest_worker > VALIDITY_CLIENT_BUSY_MAX;
    const bool is_server_busy = t->server_busy > VALIDITY_SERVER_BUSY_MAX;
    if (is_server_busy)
        add(v, result, "server-saturated", "the server's cores were %.0f %% busy",
            PERCENT(t->server_busy));
    else if (v->held_back > 0 && !is_busy)
        add(v, result, "server-saturated",
            "%" PRIu64 " arrivals waited because %u connections were in flight", v->held_back,
            v->max_in_flight);
    if (is_busy)
        add(v, result, "client-saturated", "a worker was %.0f %% busy; start lag p99 %.0f us",
            PERCENT(v->busiest_worker), lag_ns / 1e3);
    else if (v->held_back > 0)
        return;
    else if (lag_ns > limit_ns)
        add(v, result, "client-saturated", "start lag p99 is %.0f us, more than %.0f us",
            lag_ns / 1e3, limit_ns / 1e3);
    else if (started < VALIDITY_STARTED_MIN)
        add(v, result, "client-saturated", "only %.1f %% of the arrivals were started",
            PERCENT(started));
}

static void check_errors(const struct validity_trial *v, struct result *result)
{
    const struct result_tally *t = &v->trial->tally;
    const uint64_t errors = t->failed + t->timed_out + t->unfinished;
    if (t->scheduled > 0 && (double)errors > VALIDITY_ERRORS_MAX * (double)t->scheduled)
        add(v, result, "errors", "%" PRIu64 " of %" PRIu64 " arrivals %s (%.2f %%)", errors,
            t->scheduled, t->unfinished > 0 ? "failed or did not end" : "failed",
            PERCENT((double)errors / (double)t->scheduled));
}

/* Is the negotiated group one that the list names?  Unknown lists are not judged. */
static bool is_offered(const char *groups, const char *name)
{
    struct tls_group_list list;
    struct err e = ERR_INIT;
    if (groups == NULL || groups[0] == '\0' || tls_groups_parse(groups, &list, &e) != 0 ||
        list.is_default)
        return true;
    const struct tls_group *group = tls_group_by_name(name);
    for (size_t i = 0; i < list.count; i++)
        if (list.entry[i].group != NULL && list.entry[i].group == group)
            return true;
    return false;
}

static void check_groups(const struct validity_trial *v, struct result *result)
{
    const struct result_negotiated *n = v->seen;
    for (size_t i = 0; i < n->groups; i++) {
        const struct result_count *c = &n->group_count[i];
        if (!is_offered(v->groups, c->name)) {
            add(v, result, "wrong-group", "%" PRIu64 " handshakes used %s; offered were %s",
                c->count, c->name, v->groups);
            return;
        }
    }
    if (n->groups > 1)
        add(v, result, "wrong-group",
            "different groups in one arm: %" PRIu64 " %s, %" PRIu64 " %s",
            n->group_count[0].count, n->group_count[0].name, n->group_count[1].count,
            n->group_count[1].name);
}

bool validity_expects_hrr(const char *groups)
{
    struct tls_group_list list;
    struct err e = ERR_INIT;
    if (groups == NULL || strchr(groups, '*') == NULL ||
        tls_groups_parse(groups, &list, &e) != 0)
        return false;
    return list.shares < list.count;
}

/* The share asked for is of all handshakes; a few may lack a ticket, as the first one does. */
static void check_resumption(const struct validity_trial *v, struct result *result)
{
    const struct result_negotiated *n = v->seen;
    const double asked = (double)n->resume_asked;
    const uint64_t early = n->early_data_accepted + n->early_data_rejected;
    if (asked > 0 && (double)n->resumed < VALIDITY_RESUMED_MIN * asked)
        add(v, result, "not-resumed",
            "%" PRIu64 " of %" PRIu64 " handshakes were to resume, %" PRIu64
            " had a session to offer, %" PRIu64 " resumed%s",
            n->resume_asked, n->handshakes, n->resume_offered, n->resumed,
            n->resume_offered == 0 ? ": not possible: no ticket" : "");
    else if (asked > 0 && v->expects_early &&
             (double)n->early_data_accepted < VALIDITY_RESUMED_MIN * asked)
        add(v, result, "no-early-data",
            "%" PRIu64 " handshakes resumed, %" PRIu64 " sent early data, %" PRIu64
            " had it accepted%s",
            n->resumed, early, n->early_data_accepted,
            early == 0 ? ": not possible: no ticket allows as much" : "");
}

static void check_handshakes(const struct validity_trial *v, struct result *result)
{
    const struct result_negotiated *n = v->seen;
    check_groups(v, result);
    if (n->hrr > 0 && !validity_expects_hrr(v->groups))
        add(v, result, "unexpected-hrr",
            "%" PRIu64 " of %" PRIu64 " handshakes needed a HelloRetryRequest", n->hrr,
            n->handshakes);
    check_resumption(v, result);
    if (n->resumed > 0 && !v->expects_resumption)
        add(v, result, "unexpected-resumption", "%" PRIu64 " of %" PRIu64 " handshakes resumed",
            n->resumed, n->handshakes);
}

/* Unknown (NAN) compares false. */
static void check_machine(const struct validity_trial *v, struct result *result)
{
    const struct result_trial *t = v->trial;
    if (t->steal > VALIDITY_STEAL_MAX)
        add(v, result, "steal", "the hypervisor took %.1f %% of the cores' time",
            PERCENT(t->steal));
    if (t->throttled > 0)
        add(v, result, "throttled", "the cgroup's quota stopped us for %.1f %% of the time",
            PERCENT(t->throttled));
    const double change = t->speed_after_ns / t->speed_before_ns - 1;
    if (fabs(change) > VALIDITY_SPEED_CHANGE_MAX)
        add(v, result, "speed-changed", "a core was %.0f %% %s after the trial than before",
            PERCENT(fabs(change)), change > 0 ? "slower" : "faster");
}

void validity_check_trial(const struct validity_trial *v, struct result *result)
{
    check_saturation(v, result);
    check_errors(v, result);
    check_handshakes(v, result);
    check_machine(v, result);
}

static const char *const steady_clocks[] = {
    "tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "timebase", "tod"};

static void check_clock(const struct host_facts *h, struct result *result)
{
    char message[MESSAGE_SIZE];
    bool is_steady = h->clocksource[0] == '\0';
    for (size_t i = 0; i < sizeof(steady_clocks) / sizeof(steady_clocks[0]); i++)
        is_steady = is_steady || strcmp(h->clocksource, steady_clocks[i]) == 0;
    if (!is_steady || h->clock_cost_ns > VALIDITY_CLOCK_COST_MAX_NS ||
        h->clock_resolution_ns > VALIDITY_CLOCK_RESOLUTION_MAX_NS) {
        snprintf(message, sizeof(message),
                 "clocksource %s: %" PRIu64 " ns a reading, resolution %" PRIu64 " ns",
                 h->clocksource[0] != '\0' ? h->clocksource : "unknown", h->clock_cost_ns,
                 h->clock_resolution_ns);
        result_add_problem(result, RESULT_FAULT, "clock", NULL, 0, message);
    }
}

static double trial_speed(const struct result_trial *t)
{
    return (t->speed_before_ns + t->speed_after_ns) / 2;
}

/* The median of all trials' speeds, NAN where none is known. */
static double median_speed(const struct result *r)
{
    double all[512];
    size_t n = 0;
    for (size_t i = 0; i < r->arms; i++)
        for (size_t k = 0; k < r->arm[i].trials && n < 512; k++)
            if (isfinite(trial_speed(&r->arm[i].trial[k])))
                all[n++] = trial_speed(&r->arm[i].trial[k]);
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && all[k] < all[k - 1]; k--) {
            const double swap = all[k];
            all[k] = all[k - 1];
            all[k - 1] = swap;
        }
    return n > 0 ? all[n / 2] : (double)NAN;
}

static void check_speeds(struct result *r)
{
    char message[MESSAGE_SIZE];
    const double median = median_speed(r);
    for (size_t i = 0; i < r->arms; i++)
        for (size_t k = 0; k < r->arm[i].trials; k++) {
            const double off = trial_speed(&r->arm[i].trial[k]) / median - 1;
            if (!(fabs(off) > VALIDITY_SPEED_CHANGE_MAX))
                continue;
            snprintf(message, sizeof(message),
                     "the cores were %.0f %% %s than in the other trials", PERCENT(fabs(off)),
                     off > 0 ? "slower" : "faster");
            result_add_problem(r, RESULT_FAULT, "speed-changed", r->arm[i].name,
                               r->arm[i].trial[k].index, message);
        }
}

void validity_check_run(const struct validity_run *v, struct result *result)
{
    if (v->shares_cores)
        result_add_problem(result, RESULT_FAULT, "shared-cores", NULL, 0,
                           "client and server share a core");
    if (v->host != NULL)
        check_clock(v->host, result);
    if (v->is_over_loopback)
        result_add_problem(result, RESULT_NOTE, "loopback-hides-network", NULL, 0,
                           "taken over loopback: no delay, no segments, no congestion window");
    check_speeds(result);
}

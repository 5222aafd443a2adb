/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that a plan rests on besides the measurement, in words. */
#include <assert.h>
#include <math.h>
#include <string.h>
#include "base/units.h"
#include "report/figures.h"
#include "report/plan_parts.h"
#include "report/sentences.h"

static void take(struct plan *p, const char *name, struct text *text)
{
    assert(p->assumptions < PLAN_ASSUMPTIONS_MAX);
    p->assumption[p->assumptions++] = (struct plan_assumption){name, text_take(text)};
}

/* As the user would type it, so that no digit is lost. */
static void add_plain(struct text *t, double value)
{
    char number[40];
    text_add(t, units_format_number(value, number, sizeof number));
}

static void add_percent(struct text *t, double share)
{
    add_plain(t, round(share * 1e8) / 1e6);
    text_add(t, " %");
}

static void tell_traffic(struct plan *p)
{
    const struct plan_options *o = p->options;
    struct text t = {0};
    add_plain(&t, o->peak_per_s);
    text_add(&t, " new connections a second at the busiest time (--peak), ");
    add_percent(&t, o->mean_share);
    text_addf(&t, " of that on average (--mean) over a month of %g hours: ", PLAN_MONTH_H);
    add_plain(&t, round(p->month_connections));
    text_add(&t, " connections a month, each with one handshake. The rate is the same before "
                 "and after.");
    take(p, "traffic", &t);
    add_percent(&t, o->resumed);
    text_add(&t, " of the connections resume a session (--resumed), before and after, and "
                 "exchange keys anew (psk_dhe_ke).");
    take(p, "resumed", &t);
    add_percent(&t, o->hybrid_clients);
    text_add(&t, " of the clients will connect as ");
    sentences_add_arm(&t, p->cost[PLAN_AFTER][PLAN_FULL].arm);
    text_add(&t, " (--hybrid-clients); the others go on as ");
    sentences_add_arm(&t, p->cost[PLAN_BEFORE][PLAN_FULL].arm);
    text_add(&t, ". They resume as often as the others.");
    take(p, "clients", &t);
    add_percent(&t, o->hrr);
    text_add(&t, " of these clients' connections, full or resumed, need a HelloRetryRequest "
                 "(--hrr); there was none before.");
    take(p, "hrr", &t);
}

static void tell_cores(struct plan *p)
{
    const struct plan_options *o = p->options;
    struct text t = {0};
    text_add(&t, "At the peak a core is ");
    add_percent(&t, o->utilisation);
    text_add(&t, " busy (--utilisation). Cores are those of the machine that was measured, are "
                 "there all month, and are not rounded up to whole ones.");
    take(p, "utilisation", &t);
    text_add(&t,
             p->result->kind == RESULT_KIND_CPU
                 ? "CPU is that of the server's side of the TLS library, set-up and "
                   "tear-down included. The kernel's sockets and the application are not in "
                   "it; for them "
                 : "CPU is that of the server's whole process for a connection with its "
                   "response, the kernel's part included. Beyond it ");
    add_plain(&t, o->other_cpu_us);
    text_add(&t, " us a connection are added, before and after (--other-cpu).");
    take(p, "cpu", &t);
}

static void tell_resumed(struct plan *p)
{
    const struct plan_cost *before = &p->cost[PLAN_BEFORE][PLAN_RESUMED];
    const struct plan_cost *after = &p->cost[PLAN_AFTER][PLAN_RESUMED];
    struct text t = {0};
    text_add(&t, "A resumed handshake ");
    if (before->arm != NULL) {
        text_add(&t, "was measured: ");
        sentences_add_arm(&t, before->arm);
        text_add(&t, " before, ");
        sentences_add_arm(&t, after->arm);
        text_add(&t, " after.");
    } else if (p->result->kind == RESULT_KIND_CPU &&
               p->cost[PLAN_BEFORE][PLAN_FULL].arm->primitives > 0) {
        text_add(&t, "was not measured (no two arms of these groups that always resume). It is "
                     "taken as a full one without the signature and its verification, as they "
                     "were timed alone, and without Certificate and CertificateVerify; the "
                     "ticket that the client sends is not counted.");
    } else {
        text_add(&t, "was not measured (no two arms of these groups that always resume). Its "
                     "CPU is taken as that of a full one, which is too much, since nothing was "
                     "timed alone; its bytes as those without Certificate and "
                     "CertificateVerify, where the result has these.");
    }
    take(p, "resumed-cost", &t);
}

static void tell_retry(struct plan *p)
{
    const struct plan_cost *retry = &p->cost[PLAN_AFTER][PLAN_RETRY];
    struct text t = {0};
    text_add(&t, "A HelloRetryRequest ");
    if (retry->arm != NULL) {
        text_add(&t, "costs what ");
        sentences_add_arm(&t, retry->arm);
        text_add(&t, " costs more than ");
        sentences_add_arm(&t, p->cost[PLAN_AFTER][PLAN_FULL].arm);
        text_add(&t, ".");
    } else {
        text_addf(
            &t,
            "was not measured (no arm of this group that always meets one). It is taken as "
            "no CPU of the server, since keys are exchanged once, %u bytes more from the "
            "server, the ClientHello of before more from the client, and a round trip.",
            LINK_MODEL_RETRY_BYTES);
    }
    take(p, "hrr-cost", &t);
}

static void tell_bytes(struct plan *p)
{
    struct text t = {0};
    text_addf(
        &t,
        "Egress is what servers send: bytes of TLS as they were counted, tickets included, "
        "and %u bytes of IP and TCP head for each segment of at most %u bytes. GB are 10^9 "
        "bytes. "
        "SYN, FIN and acknowledgements are left out: they are the same before and after. ",
        LINK_MODEL_HEAD_BYTES, PLAN_MTU_BYTES - LINK_MODEL_HEAD_BYTES);
    text_add(&t, "For the response ");
    add_plain(&t, p->options->response_bytes);
    text_add(&t, " bytes a connection are added (--response). Ingress is the same of the "
                 "clients, without requests.");
    take(p, "bytes", &t);
}

static void add_price(struct text *t, double price, const char *currency, const char *of)
{
    add_plain(t, price);
    text_addf(t, "%s%s %s", currency[0] != '\0' ? " " : "", currency, of);
}

static void tell_price(struct plan *p)
{
    const struct plan_options *o = p->options;
    struct text t = {0};
    const bool has_core = !isnan(o->price_core_hour), has_gb = !isnan(o->price_gb);
    if (has_core)
        add_price(&t, o->price_core_hour, o->currency, "for an hour of a core");
    if (has_gb) {
        text_add(&t, has_core ? ", " : "");
        add_price(&t, o->price_gb, o->currency, "for a GB of egress");
    }
    text_add(&t, has_core || has_gb
                     ? " (--price); ingress costs nothing, and there is no discount for volume."
                     : "No price was given (--price core-hour=,gb=), so no cost is shown.");
    take(p, "price", &t);
}

static void tell_time(struct plan *p)
{
    const struct plan_options *o = p->options;
    const struct plan_cost *full = p->cost[PLAN_BEFORE];
    struct text t = {0};
    if (o->distances == 0) {
        text_add(&t,
                 "No round trips of clients were given (--rtt-mix), so no time to handshake "
                 "is shown.");
        take(p, "time", &t);
        return;
    }
    text_addf(
        &t,
        "Time to handshake is from the SYN to the handshake complete at the client, by the "
        "link's model: the round trip (--rtt-mix), an initial window of %u segments, the "
        "flights' bytes and the rate; no loss, nothing else on the line. ",
        LINK_MODEL_INITCWND);
    text_add(&t, figure_is_set(&full->cpu_us[RESULT_CLIENT])
                     ? "Computing of both sides is added, as this machine does it."
                     : "Computing is left out: of kind load the client's is the generator's.");
    if (!figure_is_set(&p->mean.ms.before))
        text_add(&t, " There is no model for these handshakes: they are not of TLS 1.3, or "
                     "their bytes were not counted.");
    take(p, "time", &t);
}

static void tell_intervals(struct plan *p)
{
    struct text t = {0};
    text_add(&t,
             "Intervals (95 %) are those of the measured CPU; their ends are added up, "
             "which is right or too wide. Bytes are counted, shares and prices are taken as "
             "exact, and other machines are not in the interval.");
    take(p, "intervals", &t);
}

void plan_tell_assumptions(struct plan *p)
{
    tell_traffic(p);
    tell_cores(p);
    tell_resumed(p);
    tell_retry(p);
    tell_bytes(p);
    tell_price(p);
    tell_time(p);
    tell_intervals(p);
}

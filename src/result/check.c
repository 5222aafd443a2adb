/* SPDX-License-Identifier: Apache-2.0 */
/* Places are named as the JSON file has them: "arms[1].trials[0].tally". */
#include "result/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "result/capacity.h"

#define PLACE_SIZE 128
/* Below this, thousandths are exact with the 15 digits that the JSON writer gives. */
#define RANGE_LIMIT UINT64_C(1000000000000)
#define CONFIDENCE_MAX 0.999999
#define SEED_LIMIT (UINT64_C(1) << 53)

static void set_place(char place[PLACE_SIZE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void set_place(char place[PLACE_SIZE], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(place, PLACE_SIZE, format, args);
    va_end(args);
}

static int broken(struct err *e, const char *at, const char *field, const char *why)
{
    return err_set(e, ERR_FAILED, "%s%s%s: %s", at,
                   at[0] != '\0' && field[0] != '\0' ? "." : "", field, why);
}

/* NULL or what is wrong with a number that may be absent. */
static const char *number_fault(double value)
{
    if (isinf(value))
        return "not finite";
    if (value < 0)
        return "below 0";
    return NULL;
}

struct named_number {
    const char *name;
    double value;
};

static int check_numbers(const char *at, const struct named_number *numbers, size_t n,
                         struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        const char *fault = number_fault(numbers[i].value);
        if (fault != NULL)
            return broken(e, at, numbers[i].name, fault);
    }
    return 0;
}

/* A difference may be below 0, a measured value may not. */
static int check_figure(const char *at, const char *field, const struct figure *f,
                        bool is_signed, struct err *e)
{
    if (isinf(f->value) || isinf(f->low) || isinf(f->high))
        return broken(e, at, field, "not finite");
    if (isnan(f->low) != isnan(f->high))
        return broken(e, at, field, "half an interval");
    if (isnan(f->value) && !isnan(f->low))
        return broken(e, at, field, "an interval without a value");
    if (f->low > f->high)
        return broken(e, at, field, "low is above high");
    if (!is_signed && f->value < 0)
        return broken(e, at, field, "below 0");
    return 0;
}

static int check_name(const char *at, const char *field, const char *name, struct err *e)
{
    if (name == NULL || name[0] == '\0')
        return broken(e, at, field, "empty");
    return 0;
}

static int check_range(const char *at, const char *field, const struct result_range *r,
                       struct err *e)
{
    if (r->count == 0)
        return 0;
    if (r->count > INT64_MAX || r->max >= RANGE_LIMIT)
        return broken(e, at, field, "too large");
    if (!(r->min <= r->max))
        return broken(e, at, field, "min is above max");
    if (!(r->mean >= (double)r->min && r->mean <= (double)r->max))
        return broken(e, at, field, "mean is not between min and max");
    return 0;
}

static int check_pairs(const char *at, const struct result_pairs *pairs, struct err *e)
{
    for (size_t i = 0; i < pairs->count; i++) {
        const struct result_pair *p = &pairs->pair[i];
        if (check_name(at, "name", p->name, e) != 0)
            return -1;
        if (p->value == NULL)
            return broken(e, at, "", "a name without a value");
        for (size_t k = 0; k < i; k++) {
            if (strcmp(pairs->pair[k].name, p->name) == 0)
                return broken(e, at, "", "a name stands twice");
        }
    }
    return 0;
}

static int check_messages(const char *at, const struct result_bytes *b, struct err *e)
{
    char place[PLACE_SIZE];
    for (size_t i = 0; i < b->messages; i++) {
        const struct result_message *m = &b->message[i];
        set_place(place, "%s.messages[%zu]", at, i);
        if ((unsigned)m->sender >= RESULT_SIDES)
            return broken(e, place, "sender", "unknown side");
        if (m->type > 255)
            return broken(e, place, "type", "above 255");
        if (m->bytes.count == 0)
            return broken(e, place, "bytes", "never seen");
        if (check_range(place, "bytes", &m->bytes, e) != 0)
            return -1;
        for (size_t k = 0; k < i; k++) {
            const struct result_message *o = &b->message[k];
            if (o->sender == m->sender && o->type == m->type && o->index == m->index)
                return broken(e, place, "", "stands twice");
        }
    }
    return 0;
}

static int check_bytes(const char *at, const struct result_bytes *b, struct err *e)
{
    char place[PLACE_SIZE];
    set_place(place, "%s.bytes", at);
    if (check_range(place, "client", &b->handshake[RESULT_CLIENT], e) != 0 ||
        check_range(place, "server", &b->handshake[RESULT_SERVER], e) != 0 ||
        check_range(place, "tickets", &b->tickets, e) != 0 ||
        check_range(place, "client_hello", &b->client_hello, e) != 0 ||
        check_range(place, "server_flight", &b->server_flight, e) != 0 ||
        check_range(place, "round_trips", &b->round_trips, e) != 0 ||
        check_messages(place, b, e) != 0)
        return -1;
    for (size_t i = 0; i < b->flights; i++) {
        if ((unsigned)b->flight[i].sender >= RESULT_SIDES)
            return broken(e, place, "flights", "unknown side");
        if (check_range(place, "flights", &b->flight[i].bytes, e) != 0)
            return -1;
    }
    return 0;
}

static int check_groups(const char *place, const struct result_negotiated *n, struct err *e)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n->groups; i++) {
        const struct result_count *c = &n->group_count[i];
        if (check_name(place, "counts", c->name, e) != 0)
            return -1;
        if (c->count == 0 || c->count > n->handshakes - sum)
            return broken(e, place, "counts", "do not add up to handshakes");
        sum += c->count;
        if (i > 0 && n->group_count[i - 1].count < c->count)
            return broken(e, place, "counts", "not the largest first");
        for (size_t k = 0; k < i; k++) {
            if (text_same_name(n->group_count[k].name, c->name))
                return broken(e, place, "counts", "a group stands twice");
        }
    }
    if (sum != n->handshakes)
        return broken(e, place, "counts", "do not add up to handshakes");
    return 0;
}

static int check_negotiated(const char *at, const struct result_negotiated *n, struct err *e)
{
    char place[PLACE_SIZE];
    set_place(place, "%s.negotiated", at);
    if (n->handshakes > INT64_MAX)
        return broken(e, place, "handshakes", "too large");
    if (n->hrr > n->handshakes)
        return broken(e, place, "hrr", "more than handshakes");
    if (n->resumed > n->handshakes)
        return broken(e, place, "resumed", "more than handshakes");
    if (n->resume_asked > n->handshakes)
        return broken(e, place, "resume_asked", "more than handshakes");
    if (n->resume_offered > n->resume_asked)
        return broken(e, place, "resume_offered", "more than resume_asked");
    if (n->early_data_accepted > n->handshakes ||
        n->early_data_rejected > n->handshakes - n->early_data_accepted)
        return broken(e, place, "early_data_accepted", "more than handshakes");
    return check_groups(place, n, e);
}

static int check_cpu(const char *at, const struct result_cpu *cpu, struct err *e)
{
    char place[PLACE_SIZE];
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        const char *name = result_side_name((enum result_side)side);
        set_place(place, "%s.cpu_us.%s", at, name);
        for (unsigned part = 0; part < RESULT_CPU_PARTS; part++) {
            const char *field = result_cpu_part_name((enum result_cpu_part)part);
            if (check_figure(place, field, &cpu->us[side][part], false, e) != 0)
                return -1;
        }
        if (check_figure(place, "min", &cpu->min_us[side], false, e) != 0 ||
            check_figure(place, "instructions", &cpu->instructions[side], false, e) != 0 ||
            check_figure(place, "cycles", &cpu->cycles[side], false, e) != 0 ||
            check_figure(place, "primitives", &cpu->primitives_us[side], false, e) != 0 ||
            check_figure(place, "primitives_share", &cpu->primitives_share[side], false, e) !=
                0)
            return -1;
    }
    return 0;
}

static int check_primitives(const char *at, const struct result_arm *arm, struct err *e)
{
    char place[PLACE_SIZE];
    for (size_t i = 0; i < arm->primitives; i++) {
        const struct result_primitive *p = &arm->primitive[i];
        set_place(place, "%s.primitives[%zu]", at, i);
        if ((unsigned)p->side >= RESULT_SIDES)
            return broken(e, place, "side", "unknown side");
        if (check_name(place, "operation", p->operation, e) != 0 ||
            check_name(place, "subject", p->subject, e) != 0 ||
            check_figure(place, "us", &p->us, false, e) != 0)
            return -1;
    }
    return 0;
}

static int check_failures(const char *at, const struct result_trial *t, struct err *e)
{
    /* Bounded by what failed, so that sums of them cannot overflow. */
    uint64_t left = t->tally.failed + t->tally.timed_out;
    for (size_t i = 0; i < t->failures; i++) {
        const struct result_failure *f = &t->failure[i];
        if (check_name(at, "failures", f->phase, e) != 0 ||
            check_name(at, "failures", f->cause, e) != 0)
            return -1;
        if (f->count == 0 || f->count > left)
            return broken(e, at, "failures", "more than failed and timed_out, or none");
        left -= f->count;
    }
    return 0;
}

static uint64_t samples_of(const struct histogram *h)
{
    return h == NULL ? 0 : histogram_count(h);
}

/* Full, resumed and early ones are the whole, in each phase. */
static int check_apart(const char *at, const struct result_trial *t, struct err *e)
{
    char place[PLACE_SIZE];
    uint64_t sum[RESULT_PHASES] = {0}, all = 0;
    set_place(place, "%s.by_handshake", at);
    for (unsigned phase = 0; phase < RESULT_PHASES; phase++)
        for (unsigned i = 0; i < RESULT_HANDSHAKES; i++) {
            const uint64_t samples = samples_of(t->apart_ns[i][phase]);
            if (samples > samples_of(t->latency_ns[phase]) - sum[phase])
                return broken(e, place, result_phase_name((enum result_phase)phase),
                              "more samples than of all handshakes");
            sum[phase] += samples;
            all += samples;
        }
    for (unsigned phase = 0; all > 0 && phase < RESULT_PHASES; phase++)
        if (sum[phase] != samples_of(t->latency_ns[phase]))
            return broken(e, place, result_phase_name((enum result_phase)phase),
                          "the samples do not add up to those of all handshakes");
    return 0;
}

static int check_histograms(const char *at, const struct result_trial *t, struct err *e)
{
    char place[PLACE_SIZE];
    set_place(place, "%s.histograms", at);
    for (unsigned phase = 0; phase < RESULT_PHASES; phase++) {
        const struct histogram *h = t->latency_ns[phase];
        if (h != NULL && histogram_count(h) > t->tally.completed)
            return broken(e, place, result_phase_name((enum result_phase)phase),
                          "more samples than completed");
    }
    if (check_apart(at, t, e) != 0)
        return -1;
    if (t->start_lag_ns != NULL && histogram_count(t->start_lag_ns) > t->tally.scheduled)
        return broken(e, place, "start_lag", "more samples than scheduled");
    return 0;
}

static int check_slowest(const char *at, const struct result_trial *t, struct err *e)
{
    char place[PLACE_SIZE];
    for (size_t i = 0; i < t->slow; i++) {
        const struct result_slow *s = &t->slowest[i];
        const struct named_number numbers[] = {
            {"at_s", s->at_s},
            {"start_lag_us", s->start_lag_us},
            {"run_delay_us", s->run_delay_us},
            {"server_run_delay_us", s->server_run_delay_us},
            {"steal_us", s->steal_us},
        };
        set_place(place, "%s.slowest[%zu]", at, i);
        if (check_numbers(place, numbers, sizeof(numbers) / sizeof(numbers[0]), e) != 0 ||
            check_name(place, "cause", s->cause, e) != 0)
            return -1;
        for (unsigned phase = 0; phase < RESULT_PHASES; phase++) {
            if (check_figure(place, result_phase_name((enum result_phase)phase),
                             &s->phase_us[phase], false, e) != 0)
                return -1;
        }
    }
    return 0;
}

static int check_sides(const char *at, const struct result_trial *t, struct err *e)
{
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        const struct named_number numbers[] = {
            {"cpu_us", t->cpu_us[side][RESULT_CPU_HANDSHAKE]},
            {"cpu_us", t->cpu_us[side][RESULT_CPU_SETUP]},
            {"cpu_us", t->cpu_us[side][RESULT_CPU_TEARDOWN]},
            {"cpu_us", t->cpu_us[side][RESULT_CPU_TOTAL]},
            {"instructions", t->instructions[side]},
            {"cycles", t->cycles[side]},
            {"side_cpu_us", t->side_cpu_us[side]},
        };
        if (check_numbers(at, numbers, sizeof(numbers) / sizeof(numbers[0]), e) != 0)
            return -1;
    }
    return 0;
}

static int check_trial(const char *at, const struct result_trial *t, struct err *e)
{
    const struct named_number numbers[] = {
        {"started_s", t->started_s},
        {"elapsed_s", t->elapsed_s},
        {"due_per_s", t->due_per_s},
        {"achieved_per_s", t->achieved_per_s},
        {"client_busy", t->client_busy},
        {"server_busy", t->server_busy},
        {"steal", t->steal},
        {"throttled", t->throttled},
        {"speed_before_ns", t->speed_before_ns},
        {"speed_after_ns", t->speed_after_ns},
        {"work_us.client", t->work_us[RESULT_CLIENT]},
        {"work_us.server", t->work_us[RESULT_SERVER]},
        {"cpu_per_work.client", t->cpu_per_work[RESULT_CLIENT]},
        {"cpu_per_work.server", t->cpu_per_work[RESULT_SERVER]},
    };
    if (check_numbers(at, numbers, sizeof(numbers) / sizeof(numbers[0]), e) != 0)
        return -1;
    if (!tally_holds(&t->tally) || t->tally.scheduled > INT64_MAX)
        return broken(e, at, "tally", "the parts do not add up to scheduled");
    if (t->retransmits > INT64_MAX || t->unclean_closes > INT64_MAX ||
        t->oldest_unfinished_ns > INT64_MAX)
        return broken(e, at, "", "a count is too large");
    if (check_sides(at, t, e) != 0 || check_failures(at, t, e) != 0 ||
        check_histograms(at, t, e) != 0)
        return -1;
    return check_slowest(at, t, e);
}

static int check_arm(const char *at, const struct result_arm *arm, struct err *e)
{
    char place[PLACE_SIZE];
    set_place(place, "%s.spec", at);
    if (check_pairs(place, &arm->spec, e) != 0)
        return -1;
    set_place(place, "%s.prediction", at);
    if (check_pairs(place, &arm->prediction, e) != 0 ||
        check_negotiated(at, &arm->negotiated, e) != 0 ||
        check_bytes(at, &arm->bytes, e) != 0 || check_cpu(at, &arm->cpu, e) != 0 ||
        network_check(at, &arm->network, e) != 0 || check_primitives(at, arm, e) != 0)
        return -1;
    unsigned last = 0;
    for (size_t i = 0; i < arm->trials; i++) {
        set_place(place, "%s.trials[%zu]", at, i);
        if (arm->trial[i].index <= last)
            return broken(e, place, "index", "not ascending from 1");
        last = arm->trial[i].index;
        if (check_trial(place, &arm->trial[i], e) != 0)
            return -1;
    }
    return 0;
}

static int check_arms(const struct result *r, struct err *e)
{
    char place[PLACE_SIZE];
    for (size_t i = 0; i < r->arms; i++) {
        set_place(place, "arms[%zu]", i);
        if (check_name(place, "name", r->arm[i].name, e) != 0)
            return -1;
        if (result_find_arm(r, r->arm[i].name) != &r->arm[i])
            return broken(e, place, "name", "stands twice");
        if (check_arm(place, &r->arm[i], e) != 0)
            return -1;
    }
    return 0;
}

static int check_problems(const struct result *r, struct err *e)
{
    char place[PLACE_SIZE];
    bool is_faulty = false;
    for (size_t i = 0; i < r->problems; i++) {
        const struct result_problem *p = &r->problem[i];
        set_place(place, "validity.problems[%zu]", i);
        if (check_name(place, "code", p->code, e) != 0 ||
            check_name(place, "message", p->message, e) != 0)
            return -1;
        if (p->arm != NULL && result_find_arm(r, p->arm) == NULL)
            return broken(e, place, "arm", "no such arm");
        if (p->severity == RESULT_LEFT_OUT && p->trial == 0)
            return broken(e, place, "trial", "what is left out is a trial");
        is_faulty = is_faulty || p->severity == RESULT_FAULT;
    }
    if (is_faulty == r->is_valid)
        return broken(e, "", "validity.valid", "does not agree with the problems");
    return 0;
}

static int check_comparison(const char *at, const struct result *r,
                            const struct result_comparison *c, struct err *e)
{
    const struct named_number numbers[] = {
        {"baseline_value", c->baseline_value},
        {"noise_floor", c->noise_floor},
        {"settle_s", c->settle_s},
    };
    if (c->baseline == NULL || result_find_arm(r, c->baseline) == NULL)
        return broken(e, at, "baseline", "no such arm");
    if (c->arm == NULL || result_find_arm(r, c->arm) == NULL)
        return broken(e, at, "arm", "no such arm");
    if (check_name(at, "metric", c->metric, e) != 0 ||
        check_numbers(at, numbers, sizeof(numbers) / sizeof(numbers[0]), e) != 0 ||
        check_figure(at, "value", &c->value, false, e) != 0 ||
        check_figure(at, "difference", &c->difference, true, e) != 0 ||
        check_figure(at, "ratio", &c->ratio, false, e) != 0)
        return -1;
    if (!(c->confidence > 0 && c->confidence <= CONFIDENCE_MAX))
        return broken(e, at, "confidence", "not between 0 and 0.999999");
    if ((unsigned)c->verdict >= RESULT_VERDICTS)
        return broken(e, at, "verdict", "unknown");
    return 0;
}

static int check_backends(const struct result_build *build, struct err *e)
{
    char place[PLACE_SIZE];
    for (size_t i = 0; i < build->backends; i++) {
        set_place(place, "build.backends[%zu]", i);
        if (check_name(place, "name", build->backend[i].name, e) != 0 ||
            check_name(place, "version", build->backend[i].version, e) != 0)
            return -1;
    }
    return 0;
}

static int check_link(const struct result *r, struct err *e)
{
    for (unsigned i = 0; i < RESULT_SIDES; i++) {
        const struct result_link_way *w = &r->link_way[i];
        const struct named_number numbers[] = {{"late_p99_us", w->late_p99_us},
                                               {"late_max_us", w->late_max_us}};
        if (w->packets > INT64_MAX || w->bytes > INT64_MAX || w->lost > w->packets ||
            w->queue_full > w->packets || w->too_large > w->packets || w->overflow > INT64_MAX)
            return broken(e, "link", "ways", "more than packets");
        if (check_numbers("link.ways", numbers, 2, e) != 0)
            return -1;
    }
    return 0;
}

static int check_run(const struct result *r, struct err *e)
{
    const struct named_number numbers[] = {
        {"elapsed_s", r->elapsed_s},
        {"process_cpu_s", r->process_cpu_s},
        {"reported_cpu_s", r->reported_cpu_s},
        {"clock_cost_ns", r->clock_cost_ns},
    };
    if ((unsigned)r->kind >= RESULT_KINDS)
        return broken(e, "", "kind", "unknown");
    if (check_numbers("", numbers, sizeof(numbers) / sizeof(numbers[0]), e) != 0)
        return -1;
    if (isinf(r->harness_cpu_s))
        return broken(e, "", "harness_cpu_s", "not finite");
    if (r->seed >= SEED_LIMIT)
        return broken(e, "", "seed", "not below 2^53");
    return 0;
}

int result_check(const struct result *r, struct err *e)
{
    char place[PLACE_SIZE];
    if (check_run(r, e) != 0 || check_link(r, e) != 0 ||
        check_pairs("config", &r->config, e) != 0 || check_pairs("link", &r->link, e) != 0 ||
        check_backends(&r->build, e) != 0)
        return -1;
    for (size_t i = 0; i < r->hosts; i++) {
        set_place(place, "hosts[%zu]", i);
        if (check_name(place, "role", r->host[i].role, e) != 0)
            return -1;
        if (isinf(r->host[i].clock_offset_ns) || isinf(r->host[i].clock_error_ns))
            return broken(e, place, "clock_offset_ns", "not finite");
    }
    if (check_arms(r, e) != 0 || check_problems(r, e) != 0)
        return -1;
    for (size_t i = 0; i < r->comparisons; i++) {
        set_place(place, "comparisons[%zu]", i);
        if (check_comparison(place, r, &r->comparison[i], e) != 0)
            return -1;
    }
    return capacity_check(r, e);
}

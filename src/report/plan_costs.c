/* SPDX-License-Identifier: Apache-2.0 */
/* What a handshake of each sort costs: as an arm has it, or derived from full handshakes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report/lookup.h"
#include "report/plan_parts.h"
#include "stats/sample.h"

#define CERTIFICATE 11u /* RFC 8446 B.3 */
#define CERTIFICATE_VERIFY 15u
#define COMPRESSED_CERTIFICATE 25u /* RFC 8879 */
#define CPU_MOST_US 1e12
#define SEGMENT_BYTES ((double)(PLAN_MTU_BYTES - LINK_MODEL_HEAD_BYTES))

static double heads_of(double bytes)
{
    return LINK_MODEL_HEAD_BYTES * ceil(bytes / SEGMENT_BYTES);
}

double plan_wire_bytes(double bytes)
{
    return bytes + heads_of(bytes);
}

static struct figure from_estimate(const struct estimate *e)
{
    return (struct figure){e->value, e->has_interval ? e->low : NAN,
                           e->has_interval ? e->high : NAN};
}

/* ---- CPU ---- */

static double cpu_of_trial(const struct result_trial *trial, enum result_side side)
{
    return trial->is_valid ? trial->side_cpu_us[side] : NAN;
}

/* Median over the valid trials. */
static struct figure loaded_cpu(const struct result_arm *arm, enum result_side side)
{
    struct figure f = FIGURE_ABSENT;
    double *x = mem_alloc_zeroed(arm->trials + 1, sizeof *x);
    size_t n = 0;
    for (size_t i = 0; i < arm->trials; i++)
        if (!isnan(cpu_of_trial(&arm->trial[i], side)))
            x[n++] = cpu_of_trial(&arm->trial[i], side);
    if (n > 0) {
        const struct estimate e = sample_median_interval(x, n, 0);
        f = from_estimate(&e);
        f.low = f.low < 0 ? 0 : f.low;
    }
    free(x);
    return f;
}

/* A loaded client's is the generator's, connections and timers included: not the client's. */
static struct figure cpu_of(const struct plan *p, const struct result_arm *arm,
                            enum result_side side)
{
    const struct figure absent = FIGURE_ABSENT;
    if (p->result->kind == RESULT_KIND_CPU)
        return arm->cpu.us[side][RESULT_CPU_TOTAL];
    return side == RESULT_SERVER ? loaded_cpu(arm, side) : absent;
}

/* Trials of one number are of one block. */
static struct figure loaded_difference(const struct result_arm *before,
                                       const struct result_arm *after, enum result_side side)
{
    struct figure f = FIGURE_ABSENT;
    double *a = mem_alloc_zeroed(before->trials + 1, sizeof *a);
    double *b = mem_alloc_zeroed(before->trials + 1, sizeof *b);
    size_t n = 0;
    for (size_t i = 0; i < before->trials; i++) {
        const struct result_trial *other = arm_find_trial(after, before->trial[i].index);
        a[n] = cpu_of_trial(&before->trial[i], side);
        b[n] = other != NULL ? cpu_of_trial(other, side) : NAN;
        n += !isnan(a[n]) && !isnan(b[n]);
    }
    if (n > 0) {
        const struct estimate e = sample_paired_difference(a, b, n, 0.95, 0);
        f = from_estimate(&e);
    }
    free(a);
    free(b);
    return f;
}

/* after - before: the paired one where the result has it. */
static struct figure cpu_difference(const struct plan *p, const struct plan_cost *before,
                                    const struct plan_cost *after, enum result_side side)
{
    struct figure f = FIGURE_ABSENT;
    if (before->arm != NULL && after->arm != NULL) {
        const struct result_comparison *c =
            lookup_metric(p->result, after->arm->name, "cpu_us", result_side_name(side), NULL);
        if (p->result->kind == RESULT_KIND_LOAD && side == RESULT_SERVER)
            f = loaded_difference(before->arm, after->arm, side);
        else if (c != NULL && strcmp(c->baseline, before->arm->name) == 0)
            f = c->difference;
    }
    return figure_is_set(&f) ? f : plan_figure_less(after->cpu_us[side], before->cpu_us[side]);
}

/* ---- one arm ---- */

/* Each flight begins a segment; what stands in none of the model's is the last one. */
static void count_wire(struct plan_cost *c)
{
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        double rest = c->bytes[side], heads = 0;
        for (unsigned i = side; i < c->flights.count; i += 2) {
            heads += heads_of(c->flights.bytes[i]);
            rest -= c->flights.bytes[i];
        }
        if (rest >= 1)
            heads += heads_of(rest);
        c->wire_bytes[side] = c->bytes[side] + heads;
    }
}

/* Tickets a connection; those without any count as 0. */
static double tickets_of(const struct result_arm *arm)
{
    const struct result_range *t = &arm->bytes.tickets;
    const uint64_t all = arm->bytes.handshake[RESULT_SERVER].count;
    return t->count > 0 && all > 0 ? t->mean * fmin(1, (double)t->count / (double)all) : 0;
}

static void measure(const struct plan *p, struct plan_cost *c)
{
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        c->cpu_us[side] = cpu_of(p, c->arm, (enum result_side)side);
        c->bytes[side] = c->arm->bytes.handshake[side].mean;
    }
    c->bytes[RESULT_SERVER] += tickets_of(c->arm);
    link_model_flights_of(c->arm, &c->flights);
    count_wire(c);
}

/* ---- derived ---- */

static struct figure primitives_of(const struct result_arm *arm, enum result_side side)
{
    struct figure sum = plan_figure_of(0);
    for (size_t i = 0; i < arm->primitives; i++) {
        const struct result_primitive *part = &arm->primitive[i];
        if (part->side == side && figure_is_set(&part->us) &&
            (strcmp(part->operation, "sign") == 0 || strcmp(part->operation, "verify") == 0))
            sum = plan_figure_sum(sum, plan_figure_times(part->us, part->times));
    }
    return sum;
}

static double certificate_bytes(const struct result_arm *arm)
{
    double bytes = 0;
    for (size_t i = 0; i < arm->bytes.messages; i++) {
        const struct result_message *m = &arm->bytes.message[i];
        if (m->sender == RESULT_SERVER &&
            (m->type == CERTIFICATE || m->type == CERTIFICATE_VERIFY ||
             m->type == COMPRESSED_CERTIFICATE))
            bytes += m->bytes.mean;
    }
    return bytes;
}

/* A full handshake without certificate and signature. */
static void derive_resumed(struct plan_cost cost[PLAN_SORTS])
{
    const struct plan_cost *full = &cost[PLAN_FULL];
    struct plan_cost *c = &cost[PLAN_RESUMED];
    const double saved = fmin(certificate_bytes(full->arm), full->bytes[RESULT_SERVER]);
    *c = *full;
    c->arm = NULL;
    for (unsigned side = 0; side < RESULT_SIDES; side++)
        c->cpu_us[side] = plan_figure_less(full->cpu_us[side],
                                           primitives_of(full->arm, (enum result_side)side));
    c->bytes[RESULT_SERVER] -= saved;
    if (c->flights.count > 0)
        c->flights.bytes[c->flights.count - 1] =
            fmax(1, c->flights.bytes[c->flights.count - 1] - saved);
    count_wire(c);
}

/* The client's first ClientHello, as it was before, is answered with a HelloRetryRequest. */
static void derive_retry(struct plan *p)
{
    const struct plan_cost *full = &p->cost[PLAN_AFTER][PLAN_FULL];
    const struct plan_cost *before = &p->cost[PLAN_BEFORE][PLAN_FULL];
    struct plan_cost *c = &p->cost[PLAN_AFTER][PLAN_RETRY];
    const double hello = before->arm->bytes.client_hello.mean;
    *c = *full;
    c->arm = NULL;
    c->bytes[RESULT_CLIENT] += hello;
    c->bytes[RESULT_SERVER] += LINK_MODEL_RETRY_BYTES;
    if (full->flights.count == 2)
        c->flights = (struct link_model_flights){
            4, {hello, LINK_MODEL_RETRY_BYTES, full->flights.bytes[0], full->flights.bytes[1]}};
    count_wire(c);
}

/* ---- all ---- */

static int check_cpu(const struct plan_cost *c, struct err *e)
{
    if (figure_is_set(&c->cpu_us[RESULT_SERVER]))
        return 0;
    return err_set(e, ERR_FAILED,
                   "the result has no CPU time of the server for arm '%.60s'; pqc-bench cpu "
                   "measures it, and load with --interleave trial against the embedded server "
                   "or an --agent",
                   c->arm->name);
}

static bool is_same_key(const struct result_arm *a, const struct result_arm *b, const char *key)
{
    const char *x = pairs_find(&a->spec, key), *y = pairs_find(&b->spec, key);
    return x == y || (x != NULL && y != NULL && strcmp(x, y) == 0);
}

/* What derived resumed handshakes save differs only where certificates do. */
static struct figure derived_difference(const struct plan *p, enum result_side side)
{
    const struct plan_cost *before = p->cost[PLAN_BEFORE], *after = p->cost[PLAN_AFTER];
    const struct result_arm *a = before[PLAN_FULL].arm, *b = after[PLAN_FULL].arm;
    const struct figure full = after[PLAN_FULL].more_cpu_us[side];
    if (is_same_key(a, b, "cert") && is_same_key(a, b, "chain"))
        return full;
    return plan_figure_less(full,
                            plan_figure_less(primitives_of(b, side), primitives_of(a, side)));
}

static void find_differences(struct plan *p, enum result_side side)
{
    const struct plan_cost *before = p->cost[PLAN_BEFORE];
    struct plan_cost *after = p->cost[PLAN_AFTER];
    after[PLAN_FULL].more_cpu_us[side] =
        cpu_difference(p, &before[PLAN_FULL], &after[PLAN_FULL], side);
    after[PLAN_RESUMED].more_cpu_us[side] =
        after[PLAN_RESUMED].arm != NULL
            ? cpu_difference(p, &before[PLAN_RESUMED], &after[PLAN_RESUMED], side)
            : derived_difference(p, side);
    after[PLAN_RETRY].more_cpu_us[side] =
        after[PLAN_RETRY].arm != NULL
            ? cpu_difference(p, &after[PLAN_FULL], &after[PLAN_RETRY], side)
            : plan_figure_of(0);
}

static bool is_bounded(const struct figure *f)
{
    /* NAN is absent, and no more than anything. */
    return !(fabs(f->value) > CPU_MOST_US) && !(fabs(f->low) > CPU_MOST_US) &&
           !(fabs(f->high) > CPU_MOST_US);
}

/* Sums of what a file says must stay finite. */
static int check_bounds(const struct plan *p, struct err *e)
{
    for (unsigned when = 0; when < PLAN_WHENS; when++)
        for (unsigned sort = 0; sort < PLAN_SORTS; sort++)
            for (unsigned side = 0; side < RESULT_SIDES; side++) {
                const struct plan_cost *c = &p->cost[when][sort];
                if (!is_bounded(&c->cpu_us[side]) || !is_bounded(&c->more_cpu_us[side]))
                    return err_set(e, ERR_FAILED,
                                   "the result has CPU times of more than %g us a handshake",
                                   CPU_MOST_US);
            }
    return 0;
}

int plan_find_costs(struct plan *p, struct err *e)
{
    for (unsigned when = 0; when < PLAN_WHENS; when++)
        for (unsigned sort = 0; sort < PLAN_SORTS; sort++) {
            struct plan_cost *c = &p->cost[when][sort];
            if (c->arm == NULL)
                continue;
            measure(p, c);
            if (check_cpu(c, e) != 0)
                return -1;
        }
    for (unsigned when = 0; when < PLAN_WHENS; when++)
        if (p->cost[when][PLAN_RESUMED].arm == NULL)
            derive_resumed(p->cost[when]);
    if (p->cost[PLAN_AFTER][PLAN_RETRY].arm == NULL)
        derive_retry(p);
    for (unsigned side = 0; side < RESULT_SIDES; side++)
        find_differences(p, (enum result_side)side);
    return check_bounds(p, e);
}

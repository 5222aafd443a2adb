/* SPDX-License-Identifier: Apache-2.0 */
/* The cryptographic operations of the arms, timed on the thread of their side between
 * rounds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "tls/groups.h"
#include "run/bench_lab.h"
#include "stats/sample.h"

#define BATCH_NS 1000000u /* a reading takes about this long */
#define BATCH_MAX 2000u
#define READINGS 2u

static bool is_same(const struct bench_primitive *p, const struct bench_primitive *other)
{
    return p->backend == other->backend && p->side == other->side && p->what == other->what &&
           strcmp(p->subject, other->subject) == 0;
}

static void use(struct bench *b, struct bench_arm *a, const struct bench_primitive *wanted,
                unsigned times, bool full_only)
{
    size_t i = 0;
    if (times == 0 || a->uses == BENCH_ARM_PRIMITIVES_MAX)
        return;
    while (i < b->primitives && !is_same(&b->primitive[i], wanted))
        i++;
    if (i == b->primitives) {
        b->primitive = mem_resize(b->primitive, i + 1, sizeof *b->primitive);
        b->primitive[i] = *wanted;
        b->primitives++;
    }
    a->use[a->uses++] = (struct bench_use){i, times, full_only};
}

/* A client that trusts the root does not verify the root's own signature; the leaf of a
 * self-signed chain is the root. */
static unsigned verifications(const struct arm *arm)
{
    static const unsigned in_chain[] = {
        [TLS_CHAIN_SELF_SIGNED] = 0,
        [TLS_CHAIN_BARE] = 0,
        [TLS_CHAIN_LEAF] = 1,
        [TLS_CHAIN_INTERMEDIATE] = 2,
    };
    return 1 + (arm->verify ? in_chain[arm->chain] : 0);
}

static void use_group(struct bench *b, struct bench_arm *a, enum duplex_side side,
                      enum tls_primitive what, const struct tls_group *group)
{
    const struct bench_primitive wanted = {
        .backend = side == DUPLEX_CLIENT ? a->plan.client : a->plan.server,
        .side = side,
        .what = what,
        .subject = group->name,
    };
    use(b, a, &wanted, 1, false);
}

/* Keys that the client makes: those of the hello that was seen, and one more where the
 * server asked for another group.  TLS 1.2 makes the one that was agreed on. */
static void use_keys(struct bench *b, struct bench_arm *a, const struct tls_group *agreed)
{
    const struct bench_watch *w = a->watch;
    bool is_made = false;
    for (unsigned i = 0; w->has_hello && i < w->hello.shares; i++) {
        const struct tls_group *group = tls_group_by_code(w->hello.share[i]);
        if (group == NULL)
            continue;
        use_group(b, a, DUPLEX_CLIENT, TLS_PRIMITIVE_KEYGEN, group);
        is_made = is_made || group == agreed;
    }
    if (!is_made)
        use_group(b, a, DUPLEX_CLIENT, TLS_PRIMITIVE_KEYGEN, agreed);
}

/* TLS 1.3 names its suite's digest last. */
static const char *digest_of(const char *cipher)
{
    static const char *const digests[] = {"SHA256", "SHA384"};
    for (size_t i = 0; i < sizeof digests / sizeof *digests; i++) {
        size_t bytes = strlen(cipher), tail = strlen(digests[i]);
        if (bytes > tail && strcmp(cipher + bytes - tail, digests[i]) == 0)
            return digests[i];
    }
    return NULL;
}

static void use_schedule(struct bench *b, struct bench_arm *a)
{
    const char *digest = a->watch == NULL ? NULL : digest_of(a->watch->cipher);
    if (digest == NULL || a->plan.arm->tls != TLS_VERSION_13)
        return;
    for (unsigned side = 0; side < 2; side++) {
        const struct bench_primitive wanted = {
            .backend = side == DUPLEX_CLIENT ? a->plan.client : a->plan.server,
            .side = (enum duplex_side)side,
            .what = TLS_PRIMITIVE_SCHEDULE,
            .subject = digest,
        };
        use(b, a, &wanted, 1, false);
    }
}

static void plan_arm(struct bench *b, size_t i)
{
    struct bench_arm *a = &b->arm[i];
    const struct arm *arm = a->plan.arm;
    const struct tls_group *agreed = NULL;
    const char *name = a->watch == NULL ? NULL : a->watch->group;
    if (name != NULL)
        agreed = tls_group_by_name(name);
    if (agreed != NULL) {
        use_keys(b, a, agreed);
        use_group(b, a, DUPLEX_CLIENT, TLS_PRIMITIVE_DERIVE, agreed);
        use_group(b, a, DUPLEX_SERVER, TLS_PRIMITIVE_ENCAPSULATE, agreed);
    }
    const struct bench_primitive verify = {.backend = a->plan.client,
                                           .side = DUPLEX_CLIENT,
                                           .what = TLS_PRIMITIVE_VERIFY,
                                           .subject = arm->certificate};
    const struct bench_primitive sign = {.backend = a->plan.server,
                                         .side = DUPLEX_SERVER,
                                         .what = TLS_PRIMITIVE_SIGN,
                                         .subject = arm->certificate};
    use(b, a, &verify, verifications(arm), true);
    use(b, a, &sign, 1, true);
    use_schedule(b, a);
}

static void prepare(struct pair *p, enum duplex_side side, void *arg)
{
    struct bench *b = arg;
    (void)p;
    for (size_t i = 0; i < b->primitives; i++) {
        struct bench_primitive *primitive = &b->primitive[i];
        if (primitive->side != side)
            continue;
        primitive->op =
            primitive->backend->primitive_new(primitive->what, primitive->subject, NULL);
        primitive->is_absent = primitive->op == NULL;
    }
}

void bench_primitives_plan(struct bench *b)
{
    if (b->options->without_primitives)
        return;
    for (size_t i = 0; i < b->arms; i++)
        plan_arm(b, i);
    for (size_t i = 0; i < b->primitives; i++) {
        struct bench_primitive *p = &b->primitive[i];
        p->room = (size_t)BENCH_PRIMITIVE_VISITS * READINGS;
        p->reading_us = mem_alloc_zeroed(p->room, sizeof(double));
        p->repeat_us = mem_alloc_zeroed(b->options->repeats, sizeof(double));
    }
    bench_run_job(b, prepare, b, -1);
}

static void let_go(struct pair *p, enum duplex_side side, void *arg)
{
    struct bench *b = arg;
    (void)p;
    for (size_t i = 0; i < b->primitives; i++)
        if (b->primitive[i].side == side && b->primitive[i].op != NULL)
            b->primitive[i].backend->primitive_free(b->primitive[i].op);
}

void bench_primitives_free(struct bench *b)
{
    pair_start(b->pair, let_go, b, -1);
    pair_wait(b->pair, UINT64_MAX);
    for (size_t i = 0; i < b->primitives; i++) {
        free(b->primitive[i].reading_us);
        free(b->primitive[i].repeat_us);
    }
    free(b->primitive);
    b->primitive = NULL;
    b->primitives = 0;
}

/* ns of `runs` runs; 0 where one failed. */
static uint64_t run_batch(const struct bench_primitive *p, unsigned runs, uint64_t cost_ns)
{
    uint64_t before_ns = clock_thread_cpu_ns();
    for (unsigned i = 0; i < runs; i++)
        if (p->backend->primitive_run(p->op) != 0)
            return 0;
    uint64_t spent_ns = clock_thread_cpu_ns() - before_ns;
    return spent_ns > cost_ns ? spent_ns - cost_ns : 1;
}

static void choose_batch(struct bench_primitive *p, uint64_t cost_ns)
{
    uint64_t first_ns = run_batch(p, 1, cost_ns); /* fills the caches */
    uint64_t once_ns = run_batch(p, 1, cost_ns);
    p->is_absent = first_ns == 0 || once_ns == 0;
    if (p->is_absent)
        return;
    uint64_t batch = BATCH_NS / once_ns + 1;
    p->batch = batch < BATCH_MAX ? (unsigned)batch : BATCH_MAX;
}

static void read_one(struct bench_primitive *p, uint64_t cost_ns)
{
    if (!p->is_absent && p->batch == 0)
        choose_batch(p, cost_ns);
    for (unsigned i = 0; i < READINGS && !p->is_absent && p->readings < p->room; i++) {
        uint64_t ns = run_batch(p, p->batch, cost_ns);
        p->is_absent = ns == 0;
        p->reading_us[p->readings++] = (double)ns / 1000 / p->batch;
    }
}

static void read_side(struct pair *pair, enum duplex_side side, void *arg)
{
    struct bench *b = arg;
    (void)pair;
    for (size_t i = 0; i < b->primitives; i++)
        if (b->primitive[i].side == side)
            read_one(&b->primitive[i], b->clock_cost_ns);
}

void bench_primitives_read(struct bench *b)
{
    if (b->primitives == 0)
        return;
    /* One after the other, as the two sides of a handshake mostly are. */
    bench_run_job(b, read_side, b, DUPLEX_CLIENT);
    bench_run_job(b, read_side, b, DUPLEX_SERVER);
}

void bench_primitives_keep(struct bench *b, bool is_kept)
{
    for (size_t i = 0; i < b->primitives; i++) {
        struct bench_primitive *p = &b->primitive[i];
        if (is_kept)
            p->repeat_us[p->repeats++] =
                p->readings == 0 ? NAN : sample_median(p->reading_us, p->readings);
        p->readings = 0;
    }
}

static struct figure figure_of(struct bench *b, const double *x, size_t n, uint64_t stream)
{
    struct figure f = FIGURE_ABSENT;
    if (n == 0)
        return f;
    struct estimate e = sample_median_interval(x, n, rng_derive_seed(b->options->seed, stream));
    f.value = e.value;
    if (e.has_interval) {
        f.low = fmax(0, e.low);
        f.high = e.high;
    }
    return f;
}

static const char *operation_name(enum tls_primitive what)
{
    switch (what) {
    case TLS_PRIMITIVE_KEYGEN:
        return "keygen";
    case TLS_PRIMITIVE_DERIVE:
        return "derive";
    case TLS_PRIMITIVE_ENCAPSULATE:
        return "encapsulate";
    case TLS_PRIMITIVE_SIGN:
        return "sign";
    case TLS_PRIMITIVE_VERIFY:
        return "verify";
    case TLS_PRIMITIVE_SCHEDULE:
        return "key schedule";
    }
    return "";
}

static void add_rows(struct bench *b, size_t i)
{
    struct bench_arm *a = &b->arm[i];
    for (size_t k = 0; k < a->uses; k++) {
        const struct bench_primitive *p = &b->primitive[a->use[k].primitive];
        bool is_never = a->use[k].full_only && a->kept.resumed == a->kept.completed;
        if (p->is_absent || p->repeats == 0 || is_never)
            continue;
        struct result_primitive *row = arm_add_primitive(&b->result->arm[i]);
        row->side = (enum result_side)p->side;
        result_set_text(&row->operation, operation_name(p->what));
        result_set_text(&row->subject, p->subject);
        row->times = a->use[k].times;
        row->us = figure_of(b, p->repeat_us, p->repeats, 1000 + a->use[k].primitive);
    }
}

/* What the arm's primitives of one side took in one repeat, per handshake; NAN: unknown. */
static double sum_us(const struct bench *b, const struct bench_arm *a, unsigned side,
                     size_t repeat)
{
    double full =
        a->kept.completed == 0 ? 1 : 1 - (double)a->kept.resumed / (double)a->kept.completed;
    double sum = 0;
    for (size_t k = 0; k < a->uses; k++) {
        const struct bench_primitive *p = &b->primitive[a->use[k].primitive];
        if ((unsigned)p->side != side)
            continue;
        if (p->is_absent)
            return NAN;
        sum += p->repeat_us[repeat] * a->use[k].times * (a->use[k].full_only ? full : 1);
    }
    return sum > 0 ? sum : NAN;
}

static void add_sums(struct bench *b, size_t i, unsigned side)
{
    struct result_arm *arm = &b->result->arm[i];
    double *us = mem_alloc_zeroed(arm->trials, sizeof *us);
    double *share = mem_alloc_zeroed(arm->trials, sizeof *share);
    size_t n = 0;
    for (size_t k = 0; k < arm->trials; k++) {
        double sum = sum_us(b, &b->arm[i], side, k);
        double total = arm->trial[k].cpu_us[side][RESULT_CPU_TOTAL];
        if (isnan(sum) || !(total > 0))
            continue;
        us[n] = sum;
        share[n++] = sum / total;
    }
    arm->cpu.primitives_us[side] = figure_of(b, us, n, 2000 + i);
    struct figure *shown = &arm->cpu.primitives_share[side];
    *shown = figure_of(b, share, n, 3000 + i);
    if (figure_has_interval(shown))
        shown->high = fmin(shown->high, fmax(1, shown->value));
    free(us);
    free(share);
}

void bench_primitives_summarise(struct bench *b)
{
    for (size_t i = 0; i < b->arms && b->primitives > 0; i++) {
        add_rows(b, i);
        for (unsigned side = 0; side < RESULT_SIDES; side++)
            add_sums(b, i, side);
    }
}

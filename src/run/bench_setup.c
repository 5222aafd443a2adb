/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "run/bench_lab.h"

#define RING_BYTES (UINT32_C(1) << 18)
#define CLOCK_ROUNDS 2001u
#define REPORT_EVERY_NS UINT64_C(200000000)
#define FULL_NAME_SIZE 96u

bool bench_is_stopped(const struct bench *b)
{
    return b->options->stop != NULL && *b->options->stop != 0;
}

static void report(struct bench *b)
{
    const struct run_progress *progress = &b->options->progress;
    double spent_s = (double)(clock_now_ns() - b->started_ns) * 1e-9;
    double done = b->turns_planned > 0 ? b->turns_done / b->turns_planned : 0;
    if (progress->report != NULL)
        progress->report(progress->arg, b->step, done,
                         done > 0 ? spent_s / done * (1 - done) : -1);
    b->next_report_ns = clock_now_ns() + REPORT_EVERY_NS;
}

void bench_run_job(struct bench *b, pair_job *job, void *arg, int only)
{
    if (b->options->progress.report == NULL) {
        pair_start(b->pair, job, arg, only);
        pair_wait(b->pair, UINT64_MAX);
        return;
    }
    if (clock_now_ns() >= b->next_report_ns)
        report(b);
    pair_start(b->pair, job, arg, only);
    while (!pair_wait(b->pair, b->next_report_ns))
        report(b);
}

/* What both threads find out about themselves. */
struct preparation {
    struct bench *b;
    uint64_t cost_ns[2];
};

static void prepare(struct pair *p, enum duplex_side side, void *arg)
{
    struct preparation *preparation = arg;
    struct bench *b = preparation->b;
    (void)p;
    preparation->cost_ns[side] = clock_thread_cpu_cost_ns(CLOCK_ROUNDS);
    b->has_counters[side] = cpu_counters_open(&b->counters[side]);
}

static int plan_arms(struct bench *b, struct err *e)
{
    for (size_t i = 0; i < b->arms; i++) {
        const struct arm *arm = &b->options->arms->arm[i];
        struct bench_arm *a = &b->arm[i];
        if (arm->payload_bytes > 0)
            return err_set(e, ERR_USAGE,
                           "arm %s: payload=%" PRIu64 ": handshakes in one process have no "
                           "response (accepted: 0)",
                           arm->name, arm->payload_bytes);
        if (arm_plan(arm, b->options->backends, &a->plan, e) != 0)
            return -1;
        a->lane.plan = &a->plan;
    }
    return 0;
}

/* Arms that ask for the same certificate get the same one. */
static const struct bench_identity *find_identity(struct bench *b, const struct arm_plan *plan,
                                                  struct err *e)
{
    for (size_t i = 0; i < b->identities; i++) {
        const struct bench_identity *identity = &b->identity[i];
        if (strcmp(identity->kind, plan->arm->certificate) == 0 &&
            identity->chain == plan->arm->chain && identity->maker == plan->server)
            return identity;
    }
    struct bench_identity *made = &b->identity[b->identities];
    const struct tls_identity_spec spec = {
        .kind = plan->arm->certificate, .chain = plan->arm->chain, .host = BENCH_SERVER_NAME};
    if (plan->server->identity_make(&spec, &made->pem, e) != 0) {
        err_add_context(e, "arm %s: certificate %s", plan->arm->name, spec.kind);
        return NULL;
    }
    made->kind = spec.kind;
    made->chain = spec.chain;
    made->maker = plan->server;
    b->identities++;
    return made;
}

static int make_identities(struct bench *b, struct err *e)
{
    for (size_t i = 0; i < b->arms; i++) {
        struct bench_arm *a = &b->arm[i];
        a->identity = find_identity(b, &a->plan, e);
        if (a->identity == NULL)
            return -1;
        a->plan.server_config.identity = &a->identity->pem;
        /* Libraries walk up the chain to a root that they know even if nobody asks what
         * came out: a client that does not verify knows none. */
        a->plan.client_config.roots_pem =
            a->plan.arm->verify ? a->identity->pem.root_pem : NULL;
    }
    return 0;
}

/* Everything that is written while the handshakes run is there before they do. */
static void make_room(struct bench *b)
{
    const unsigned handshakes = b->options->handshakes;
    b->rounds = (handshakes + BENCH_TURN / 2) / BENCH_TURN;
    if (b->rounds == 0)
        b->rounds = 1;
    b->order = mem_alloc_zeroed(b->arms, sizeof *b->order);
    b->scratch = mem_alloc_zeroed(handshakes, sizeof *b->scratch);
    for (size_t i = 0; i < b->arms; i++) {
        struct bench_arm *a = &b->arm[i];
        b->order[i] = i;
        a->row = mem_alloc_zeroed(handshakes, sizeof *a->row);
        memset(a->row, 0, handshakes * sizeof *a->row);
        for (unsigned side = 0; side < RESULT_SIDES; side++) {
            a->round_us[side] = mem_alloc_zeroed(b->rounds, sizeof(double));
            a->work_us[side] = mem_alloc_zeroed(b->rounds, sizeof(double));
            a->difference_us[side] =
                mem_alloc_zeroed((size_t)b->rounds * b->options->repeats, sizeof(double));
        }
    }
}

static void add_backend(struct result *r, const struct tls_backend *backend)
{
    result_add_backend(r, backend->name, backend->version, backend->description);
}

static void describe_arms(struct bench *b)
{
    char name[FULL_NAME_SIZE];
    for (size_t i = 0; i < b->arms; i++) {
        const struct arm_plan *plan = &b->arm[i].plan;
        struct result_arm *arm = result_add_arm(b->result, plan->arm->name);
        arm_echo(plan->arm, &arm->spec);
        result_set_text(&arm->client_backend,
                        tls_backend_full_name(plan->client, name, sizeof name));
        result_set_text(&arm->server_backend,
                        tls_backend_full_name(plan->server, name, sizeof name));
        add_backend(b->result, plan->client);
        add_backend(b->result, plan->server);
    }
}

static int make_pair(struct bench *b, struct err *e)
{
    const struct bench_options *o = b->options;
    unsigned client = o->client_cores.core[0], server = o->server_cores.core[0];
    b->cores.count = client == server ? 1 : 2;
    b->cores.core[0] = (unsigned short)(client < server ? client : server);
    b->cores.core[1] = (unsigned short)(client < server ? server : client);
    b->duplex = duplex_new(RING_BYTES);
    if (b->duplex == NULL)
        return err_set(e, ERR_SYSTEM, "out of memory");
    duplex_defer_wakes(b->duplex, true);
    b->pair = pair_new(client, server, e);
    if (b->pair == NULL)
        return -1;
    struct preparation preparation = {.b = b};
    bench_run_job(b, prepare, &preparation, -1);
    b->clock_cost_ns = (preparation.cost_ns[0] + preparation.cost_ns[1]) / 2;
    b->result->clock_cost_ns = (double)b->clock_cost_ns;
    return 0;
}

int bench_set_up(struct bench *b, struct err *e)
{
    const struct bench_options *o = b->options;
    b->arms = o->arms->count;
    b->arm = mem_alloc_zeroed(b->arms, sizeof *b->arm);
    b->identity = mem_alloc_zeroed(b->arms, sizeof *b->identity);
    rng_init(&b->rng, rng_derive_seed(o->seed, 0));
    if (plan_arms(b, e) != 0 || make_identities(b, e) != 0)
        return -1;
    make_room(b);
    describe_arms(b);
    b->turns_planned = (double)b->rounds * (double)b->arms * (o->repeats + 1.0);
    return make_pair(b, e);
}

/* Each side makes its own: a context belongs to the thread that uses it. */
struct context_job {
    struct bench *b;
    struct err failure[2];
    size_t failed_arm[2];
};

static void free_contexts(struct bench *b, enum duplex_side side)
{
    for (size_t i = 0; i < b->arms; i++) {
        struct bench_lane *lane = &b->arm[i].lane;
        const struct arm_plan *plan = &b->arm[i].plan;
        const struct tls_backend *backend = side == DUPLEX_CLIENT ? plan->client : plan->server;
        if (side == DUPLEX_CLIENT && lane->session != NULL) {
            backend->session_free(lane->session);
            lane->session = NULL;
        }
        if (lane->context[side] != NULL)
            backend->context_free(lane->context[side]);
        lane->context[side] = NULL;
    }
}

static void make_contexts(struct pair *p, enum duplex_side side, void *arg)
{
    struct context_job *job = arg;
    struct bench *b = job->b;
    (void)p;
    free_contexts(b, side);
    for (size_t i = 0; i < b->arms; i++) {
        size_t which = b->order[i];
        const struct arm_plan *plan = &b->arm[which].plan;
        struct tls_context *made =
            side == DUPLEX_CLIENT
                ? plan->client->context_new(&plan->client_config, &job->failure[side])
                : plan->server->context_new(&plan->server_config, &job->failure[side]);
        b->arm[which].lane.context[side] = made;
        job->failed_arm[side] = which;
        if (made == NULL)
            return;
        job->failure[side].kind = ERR_NONE;
    }
}

int bench_make_contexts(struct bench *b, struct err *e)
{
    struct context_job job = {.b = b};
    rng_shuffle(&b->rng, b->order, b->arms);
    bench_run_job(b, make_contexts, &job, -1);
    for (unsigned side = 0; side < 2; side++) {
        if (job.failure[side].kind == ERR_NONE)
            continue;
        if (e != NULL)
            *e = job.failure[side];
        return err_add_context(e, "arm %s: %s", b->arm[job.failed_arm[side]].plan.arm->name,
                               side == DUPLEX_CLIENT ? "client" : "server");
    }
    return 0;
}

static void let_go(struct pair *p, enum duplex_side side, void *arg)
{
    struct bench *b = arg;
    (void)p;
    free_contexts(b, side);
    if (b->has_counters[side])
        cpu_counters_close(&b->counters[side]);
}

static void free_arm(struct bench_arm *a)
{
    if (a->watch != NULL)
        bytes_free(&a->watch->messages);
    free(a->watch);
    free(a->row);
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        free(a->round_us[side]);
        free(a->work_us[side]);
        free(a->difference_us[side]);
    }
}

void bench_tear_down(struct bench *b)
{
    if (b->pair != NULL) {
        bench_primitives_free(b);
        pair_start(b->pair, let_go, b, -1);
        pair_wait(b->pair, UINT64_MAX);
    }
    pair_free(b->pair);
    duplex_free(b->duplex);
    bench_work_free(b);
    for (size_t i = 0; i < b->identities; i++)
        tls_identity_free(&b->identity[i].pem);
    for (size_t i = 0; b->arm != NULL && i < b->arms; i++)
        free_arm(&b->arm[i]);
    free(b->arm);
    free(b->identity);
    free(b->order);
    free(b->scratch);
}

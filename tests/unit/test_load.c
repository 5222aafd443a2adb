/* SPDX-License-Identifier: Apache-2.0 */
/* Is every arrival accounted for, whatever the server does, and does a stall show in each
 * that waited?  Over loopback, with the backend that does no cryptography. */
#include "cmocka_all.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "run/endpoint.h"
#include "run/load.h"
#include "run/server.h"
#include "tls/null.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)

static const struct tls_backend *null_backend;
static struct tls_backends backends;
static struct endpoint endpoint;

/* ---- a server in a process of its own, so that it can be stopped ---- */

static void serve_for_ever(int report)
{
    struct err e = ERR_INIT;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const struct server_options options = {.endpoint = &endpoint.server, .endpoints = 1};
    struct server *server = server_start(&options, &e);
    const unsigned port = server != NULL ? server_port(server, 0) : 0;
    (void)!write(report, &port, sizeof port);
    for (;;)
        pause();
}

static pid_t start_server(unsigned *port)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0)
        serve_for_ever(ends[1]);
    assert_int_equal(read(ends[0], port, sizeof *port), sizeof *port);
    assert_true(*port > 0);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static void end_server(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* ---- one run ---- */

struct bed {
    struct arm_list arms;
    struct load_options options;
    struct result *result;
    struct err e;
    char target[32];
    int failed;
};

static void prepare(struct bed *b, unsigned port)
{
    memset(b, 0, sizeof *b);
    b->arms.count = 1;
    assert_int_equal(arm_parse("a: backend=null groups=X25519", &b->arms.arm[0], &b->e), 0);
    snprintf(b->target, sizeof b->target, "127.0.0.1:%u", port);
    b->options = (struct load_options){
        .arms = &b->arms,
        .backends = &backends,
        .rate_per_s = 200,
        .duration_ns = S,
        .warmup_ns = 0,
        .grace_ns = 2 * S,
        .timeout_ns = 10 * S,
        .trials = 1,
        .workers = 1,
        .max_in_flight = 1000,
        .target = b->target,
        .server_name = ENDPOINT_HOST,
        .roots_pem = endpoint.identity.root_pem,
        .seed = 1,
    };
    b->result = result_new(RESULT_KIND_LOAD);
}

static const struct result_trial *run(struct bed *b)
{
    struct err broken = ERR_INIT;
    b->failed = load_run(&b->options, b->result, &b->e);
    if (result_check(b->result, &broken) != 0)
        fail_msg("%s", broken.text);
    return b->result->arm[0].trials > 0 ? &b->result->arm[0].trial[0] : NULL;
}

static void check_tally(const struct result_trial *t, uint64_t completed, uint64_t failed,
                        uint64_t timed_out, uint64_t unfinished, uint64_t not_started)
{
    assert_int_equal(t->tally.completed, completed);
    assert_int_equal(t->tally.failed, failed);
    assert_int_equal(t->tally.timed_out, timed_out);
    assert_int_equal(t->tally.unfinished, unfinished);
    assert_int_equal(t->tally.not_started, not_started);
    assert_int_equal(t->tally.scheduled,
                     completed + failed + timed_out + unfinished + not_started);
}

static bool has_problem(const struct result *r, const char *code)
{
    for (size_t i = 0; i < r->problems; i++)
        if (strcmp(r->problem[i].code, code) == 0)
            return true;
    return false;
}

static size_t open_descriptors(void)
{
    size_t n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

/* ---- the tests ---- */

static void every_arrival_is_completed_and_counted_once(void **state)
{
    (void)state;
    static struct bed b;
    unsigned port;
    const pid_t server = start_server(&port);
    const size_t descriptors = open_descriptors();
    prepare(&b, port);
    b.options.workers = 3;
    b.options.warmup_ns = 300 * MS;
    const struct result_trial *t = run(&b);
    assert_int_equal(b.failed, 0);
    check_tally(t, 200, 0, 0, 0, 0);
    for (unsigned i = 0; i < RESULT_PHASES; i++)
        assert_int_equal(histogram_count(t->latency_ns[i]), 200);
    assert_int_equal(histogram_count(t->start_lag_ns), 200);
    assert_int_equal(b.result->arm[0].negotiated.handshakes, 200);
    assert_string_equal(b.result->arm[0].negotiated.group, "X25519");
    assert_true(fabs(t->elapsed_s - 1) < 0.2);
    assert_true(t->slow > 0 && t->slow <= 32);
    result_free(b.result);
    assert_int_equal(open_descriptors(), descriptors);
    end_server(server);
}

static void trials_do_not_leak_into_each_other(void **state)
{
    (void)state;
    static struct bed b;
    unsigned port;
    const pid_t server = start_server(&port);
    prepare(&b, port);
    b.arms.count = 2;
    assert_int_equal(arm_parse("b: backend=null groups=X25519MLKEM768", &b.arms.arm[1], &b.e),
                     0);
    b.options.trials = 3;
    b.options.duration_ns = 200 * MS;
    b.options.rate_per_s = 100;
    (void)run(&b);
    assert_int_equal(b.failed, 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(b.result->arm[i].trials, 3);
        for (unsigned k = 0; k < 3; k++)
            check_tally(&b.result->arm[i].trial[k], 20, 0, 0, 0, 0);
    }
    assert_string_equal(b.result->arm[1].negotiated.group, "X25519MLKEM768");
    assert_int_equal(b.result->arm[1].negotiated.handshakes, 60);
    result_free(b.result);
    end_server(server);
}

static void arms_take_turns_within_a_trial(void **state)
{
    (void)state;
    static struct bed b;
    unsigned port;
    const pid_t server = start_server(&port);
    prepare(&b, port);
    b.arms.count = 3;
    assert_int_equal(arm_parse("b: backend=null groups=X25519MLKEM768", &b.arms.arm[1], &b.e),
                     0);
    assert_int_equal(arm_parse("c: backend=null groups=X25519", &b.arms.arm[2], &b.e), 0);
    b.options.interleave = LOAD_INTERLEAVE_CONNECTION;
    b.options.workers = 2;
    b.options.rate_per_s = 301; /* the last round is not complete */
    (void)run(&b);
    assert_int_equal(b.failed, 0);
    uint64_t sum = 0;
    for (unsigned i = 0; i < 3; i++) {
        const struct result_trial *t = &b.result->arm[i].trial[0];
        assert_true(t->tally.completed == 100 || t->tally.completed == 101);
        assert_true(fabs(t->due_per_s - 301.0 / 3) < 1e-9);
        sum += t->tally.completed;
    }
    assert_int_equal(sum, 301);
    result_free(b.result);
    end_server(server);
}

/* In a process: what stops a thread of ours must not be one of them. */
static pid_t freeze_later(pid_t server, uint64_t after_ns, uint64_t for_ns)
{
    const uint64_t began_ns = clock_now_ns();
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    clock_sleep_until_ns(began_ns + after_ns);
    kill(server, SIGSTOP);
    clock_sleep_until_ns(began_ns + after_ns + for_ns);
    kill(server, SIGCONT);
    _exit(0);
}

/* Frozen for 0.6 s at 200/s: the 120 that were due meanwhile waited 0.6 s, 0.595 s, ... 0. */
static void a_frozen_server_shows_in_each_arrival_that_waited(void **state)
{
    (void)state;
    static struct bed b;
    unsigned port;
    const pid_t server = start_server(&port);
    prepare(&b, port);
    b.options.duration_ns = 1500 * MS;
    const pid_t freezer = freeze_later(server, 300 * MS, 600 * MS);
    const struct result_trial *t = run(&b);
    assert_int_equal(waitpid(freezer, NULL, 0), freezer);
    assert_int_equal(b.failed, 0);
    check_tally(t, 300, 0, 0, 0, 0);
    const struct histogram *h = t->latency_ns[RESULT_PHASE_RESPONSE];
    uint64_t low, high, count, waited = 0;
    for (size_t cursor = 0; histogram_next(h, &cursor, &low, &high, &count);)
        waited += low >= 100 * MS ? count : 0;
    /* 100 of them by 0.1 s or more.  The lower bounds are the claim; the upper ones leave room
     * for a busy machine. */
    assert_in_range(waited, 92, 220);
    assert_in_range(histogram_max(h), 560 * MS, 1500 * MS);
    /* Of 300, 120 are evenly spread over 0 .. 0.6 s: the 80th percentile is the 60th of
     * the slowest. */
    assert_in_range(histogram_quantile(h, 0.8), 270 * MS, 600 * MS);
    assert_in_range(histogram_quantile(h, 0.95), 500 * MS, 900 * MS);
    result_free(b.result);
    end_server(server);
}

/* A listener whose connections nobody takes: the kernel answers the SYN, nobody the hello. */
static int open_silent_listener(unsigned *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof a;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(fd, 1000), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &length), 0);
    *port = ntohs(a.sin_port);
    return fd;
}

static void a_run_ends_at_its_duration_plus_grace(void **state)
{
    (void)state;
    static struct bed b;
    unsigned port;
    const int listener = open_silent_listener(&port);
    prepare(&b, port);
    b.options.duration_ns = 500 * MS;
    b.options.grace_ns = 500 * MS;
    const uint64_t began_ns = clock_now_ns();
    const struct result_trial *t = run(&b);
    assert_in_range(clock_now_ns() - began_ns, S, 2500 * MS);
    assert_int_equal(b.failed, -1); /* nothing was completed */
    check_tally(t, 0, 0, 0, 100, 0);
    assert_true(t->is_censored);
    assert_in_range(t->oldest_unfinished_ns, 950 * MS, 1500 * MS);
    assert_null(t->latency_ns[RESULT_PHASE_TLS]);
    result_free(b.result);
    close(listener);
}

static void silence_is_a_timeout_in_its_phase(void **state)
{
    (void)state;
    static struct bed b;
    unsigned port;
    const int listener = open_silent_listener(&port);
    prepare(&b, port);
    b.options.duration_ns = 300 * MS;
    b.options.timeout_ns = 200 * MS;
    const struct result_trial *t = run(&b);
    check_tally(t, 0, 0, 60, 0, 0);
    assert_int_equal(t->failures, 1);
    assert_string_equal(t->failure[0].phase, "tls");
    assert_string_equal(t->failure[0].cause, "timeout");
    assert_non_null(strstr(t->failure[0].detail, "after a ClientHello of"));
    assert_true(has_problem(b.result, "errors"));
    result_free(b.result);
    close(listener);
}

static void a_refused_port_is_a_failure_without_latency(void **state)
{
    (void)state;
    static struct bed b;
    unsigned port;
    close(open_silent_listener(&port));
    prepare(&b, port);
    b.options.duration_ns = 200 * MS;
    const struct result_trial *t = run(&b);
    assert_int_equal(b.failed, -1);
    check_tally(t, 0, 40, 0, 0, 0);
    assert_string_equal(t->failure[0].phase, "tcp");
    assert_int_equal(t->failure[0].code, ECONNREFUSED);
    assert_false(t->failure[0].is_local);
    for (unsigned i = 0; i < RESULT_PHASES; i++)
        assert_null(t->latency_ns[i]);
    result_free(b.result);
}

/* 25/s for 2 s; the server burns 200 ms for each and one may be in flight: 10 of 50. */
static void a_serial_server_leaves_arrivals_not_started(void **state)
{
    (void)state;
    static struct bed b;
    unsigned port;
    const pid_t server = start_server(&port);
    prepare(&b, port);
    assert_int_equal(
        arm_parse("a: backend=null groups=X25519 null-server=200ms", &b.arms.arm[0], &b.e), 0);
    b.options.rate_per_s = 25;
    b.options.duration_ns = 2 * S;
    b.options.max_in_flight = 1;
    const struct result_trial *t = run(&b);
    assert_in_range(t->tally.completed, 2, 10);
    check_tally(t, t->tally.completed, 0, 0, 0, 50 - t->tally.completed);
    assert_true(has_problem(b.result, "server-saturated"));
    assert_false(has_problem(b.result, "client-saturated"));
    assert_true(histogram_quantile(t->latency_ns[RESULT_PHASE_TLS], 0.5) >= 200 * MS);
    /* The k-th is started at k * 0.2 s or later and was due at k / 25 s. */
    const double k = (double)t->tally.completed - 1;
    assert_true((double)histogram_max(t->latency_ns[RESULT_PHASE_RESPONSE]) >=
                (k * 0.16 + 0.199) * 1e9);
    result_free(b.result);
    end_server(server);
}

static void a_stop_keeps_finished_trials_only(void **state)
{
    (void)state;
    static struct bed b;
    static volatile sig_atomic_t stop;
    unsigned port;
    const pid_t server = start_server(&port);
    prepare(&b, port);
    stop = SIGINT; /* before anything: no trial is finished */
    b.options.stop = &stop;
    assert_null(run(&b));
    assert_int_equal(b.failed, -1);
    assert_true(b.result->is_interrupted);
    result_free(b.result);
    end_server(server);
}

static int make_backends(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    static char *path = NULL;
    struct arm arm;
    null_backend = tls_null_backend();
    backends = (struct tls_backends){1, &null_backend, &path};
    arm_init(&arm, "server");
    snprintf(arm.backend, sizeof arm.backend, "null");
    if (endpoint_init(&endpoint, &arm, &backends, ENDPOINT_HOST, &e) != 0 ||
        address_lookup("127.0.0.1:0", ADDRESS_LISTEN, &endpoint.server.address, &e) != 0) {
        fprintf(stderr, "%s\n", e.text);
        return -1;
    }
    return 0;
}

static int drop_backends(void **state)
{
    (void)state;
    endpoint_fini(&endpoint);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_arrival_is_completed_and_counted_once),
        cmocka_unit_test(trials_do_not_leak_into_each_other),
        cmocka_unit_test(arms_take_turns_within_a_trial),
        cmocka_unit_test(a_frozen_server_shows_in_each_arrival_that_waited),
        cmocka_unit_test(a_run_ends_at_its_duration_plus_grace),
        cmocka_unit_test(silence_is_a_timeout_in_its_phase),
        cmocka_unit_test(a_refused_port_is_a_failure_without_latency),
        cmocka_unit_test(a_serial_server_leaves_arrivals_not_started),
        cmocka_unit_test(a_stop_keeps_finished_trials_only),
    };
    return cmocka_run_group_tests(tests, make_backends, drop_backends);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Does the agent count what comes and goes, say only what can be read back, and can no peer
 * hold it up? */
#include "fake_tree.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "run/agent.h"
#include "run/agent_client.h"
#include "run/agent_http.h"
#include "run/agent_watch.h"

#define MS UINT64_C(1000000)
#define TICK_NS UINT64_C(10000000)

/* ---- who belongs to it, and what they cost ---- */

struct fake {
    int pid, parent, ticks, reaped_ticks, started;
    const char *name;
    char state;
    unsigned long cpu_ns, delay_ns; /* of its only thread */
};

static void write_fake(const struct tree *t, const struct fake *f)
{
    char path[96], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", f->pid);
    snprintf(text, sizeof text, "%d (%s) %c %d 1 1 0 -1 0 0 0 0 0 %d 0 %d 0 20 0 1 0 %d 0\n",
             f->pid, f->name, f->state, f->parent, f->ticks, f->reaped_ticks, f->started);
    tree_write(t, path, text);
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", f->pid, f->pid);
    snprintf(text, sizeof text, "%lu %lu 5\n", f->cpu_ns, f->delay_ns);
    tree_write(t, path, text);
}

static void remove_fake(const struct tree *t, int pid)
{
    struct tree part;
    snprintf(part.root, sizeof part.root, "%.40s/proc/%d", t->root, pid);
    tree_remove(&part);
}

static uint64_t now_of(struct agent_watch *w)
{
    agent_watch_scan(w);
    agent_watch_tick(w, clock_now_ns());
    return w->totals.cpu_ns;
}

static const struct fake master = {10, 1, 2, 0, 100, "nginx", 'S', 20 * MS, 1 * MS};
static const struct fake worker = {11, 10, 5, 0, 101, "nginx", 'S', 50 * MS, 2 * MS};
static const struct fake other = {12, 1, 9, 0, 102, "nginx-debug", 'R', 90 * MS, 0};

static void begin(struct tree *t, struct agent_watch *w)
{
    const struct agent_target target = {.name = "nginx"};
    struct err e = ERR_INIT;
    tree_make(t);
    write_fake(t, &master);
    write_fake(t, &worker);
    write_fake(t, &other);
    assert_int_equal(agent_watch_init(w, t->root, &target, &e), 0);
}

static void end(struct tree *t, struct agent_watch *w)
{
    agent_watch_fini(w);
    tree_remove(t);
}

static void all_of_a_name_are_summed(void **state)
{
    struct agent_watch w;
    struct tree t;
    (void)state;
    begin(&t, &w);
    assert_int_equal(now_of(&w), 70 * MS);
    assert_int_equal(w.totals.processes, 2);
    assert_int_equal(w.totals.threads, 2);
    struct fake more = worker;
    more.cpu_ns += 7 * MS;
    more.delay_ns += 3 * MS;
    write_fake(&t, &more);
    struct fake busy = master;
    busy.cpu_ns += 2 * MS;
    busy.delay_ns += 5 * MS;
    write_fake(&t, &busy);
    assert_int_equal(now_of(&w), 79 * MS);
    assert_int_equal(w.totals.run_delay_ns, 8 * MS);
    assert_int_equal(w.totals.thread_cpu_ns, 7 * MS);
    assert_int_equal(w.totals.thread_delay_ns, 5 * MS);
    end(&t, &w);
}

static void a_process_has_its_descendants(void **state)
{
    struct agent_target target = {.pid = 10};
    struct agent_watch w;
    struct err e = ERR_INIT;
    struct tree t;
    (void)state;
    tree_make(&t);
    write_fake(&t, &master);
    write_fake(&t, &worker);
    write_fake(&t, &other);
    struct fake grandchild = other;
    grandchild.pid = 13;
    grandchild.parent = 11;
    write_fake(&t, &grandchild);
    assert_int_equal(agent_watch_init(&w, t.root, &target, &e), 0);
    now_of(&w); /* whatever order the directory is in */
    assert_int_equal(now_of(&w), 160 * MS);
    assert_int_equal(w.totals.processes, 3);
    agent_watch_fini(&w);
    target.without_itself = true;
    assert_int_equal(agent_watch_init(&w, t.root, &target, &e), 0);
    now_of(&w);
    assert_int_equal(now_of(&w), 140 * MS);
    assert_int_equal(w.totals.processes, 2);
    end(&t, &w);
}

static void nothing_to_watch_is_refused(void **state)
{
    const struct agent_target targets[] = {{.name = "nosuch"}, {.pid = 99}};
    struct agent_watch w;
    struct tree t;
    (void)state;
    tree_make(&t);
    write_fake(&t, &other);
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        struct err e = ERR_INIT;
        assert_int_equal(agent_watch_init(&w, t.root, &targets[i], &e), -1);
        assert_int_equal(e.kind, ERR_USAGE);
    }
    tree_remove(&t);
}

static void a_process_that_ends_keeps_its_time(void **state)
{
    struct agent_watch w;
    struct tree t;
    (void)state;
    begin(&t, &w);
    assert_int_equal(now_of(&w), 70 * MS);
    struct fake zombie = worker; /* it used 10 ms more, and its parent has not asked */
    zombie.state = 'Z';
    zombie.cpu_ns += 10 * MS;
    write_fake(&t, &zombie);
    assert_int_equal(now_of(&w), 80 * MS);
    assert_int_equal(w.totals.processes, 1);
    assert_int_equal(now_of(&w), 80 * MS);
    remove_fake(&t, 11); /* the parent asks: in its account are 6 ticks, the same ones */
    struct fake parent = master;
    parent.reaped_ticks = 6;
    write_fake(&t, &parent);
    assert_int_equal(now_of(&w), 80 * MS);
    /* Children that no scan saw: 4 ticks more. */
    parent.reaped_ticks = 10;
    write_fake(&t, &parent);
    assert_int_equal(now_of(&w), 20 * MS + 10 * TICK_NS);
    /* The last one goes too. */
    remove_fake(&t, 10);
    assert_int_equal(now_of(&w), 20 * MS + 10 * TICK_NS);
    assert_int_equal(w.totals.processes, 0);
    end(&t, &w);
}

static void what_was_reaped_before_does_not_count(void **state)
{
    const struct agent_target target = {.pid = 10};
    struct agent_watch w;
    struct err e = ERR_INIT;
    struct tree t;
    struct fake old = master;
    (void)state;
    old.reaped_ticks = 1000;
    tree_make(&t);
    write_fake(&t, &old);
    assert_int_equal(agent_watch_init(&w, t.root, &target, &e), 0);
    assert_int_equal(now_of(&w), 20 * MS);
    end(&t, &w);
}

static void a_number_that_is_used_again_is_another_process(void **state)
{
    struct agent_watch w;
    struct tree t;
    (void)state;
    begin(&t, &w);
    assert_int_equal(now_of(&w), 70 * MS);
    struct fake next = worker;
    next.started = 500;
    next.cpu_ns = 3 * MS;
    write_fake(&t, &next);
    assert_int_equal(now_of(&w), 73 * MS);
    end(&t, &w);
}

static void stopped_is_when_all_are(void **state)
{
    struct agent_watch w;
    struct tree t;
    (void)state;
    begin(&t, &w);
    now_of(&w);
    struct fake held = worker;
    held.state = 'T';
    write_fake(&t, &held);
    now_of(&w);
    assert_false(w.totals.is_stopped);
    write_fake(&t, &worker);
    held = master;
    held.state = 'T';
    write_fake(&t, &held);
    now_of(&w);
    assert_false(w.totals.is_stopped);
    held = worker;
    held.state = 'T';
    write_fake(&t, &held);
    now_of(&w);
    assert_true(w.totals.is_stopped);
    end(&t, &w);
}

static void a_kernel_without_schedstat_is_known_as_one(void **state)
{
    struct agent_watch w;
    struct tree t;
    (void)state;
    begin(&t, &w);
    struct fake none = master;
    none.cpu_ns = none.delay_ns = 0;
    tree_write(&t, "/proc/10/task/10/schedstat", "0 0 0\n");
    tree_write(&t, "/proc/11/task/11/schedstat", "0 0 0\n");
    assert_int_equal(now_of(&w), 7 * TICK_NS);
    assert_false(w.totals.has_thread_times);
    end(&t, &w);
}

/* ---- messages ---- */

static void messages_come_back_as_they_were(void **state)
{
    const struct agent_reading r = {
        "a\"b", true, 1, 2, 3, 4, AGENT_UNKNOWN, 6, 7, 8, 9, 10, 11, AGENT_UNKNOWN, 0};
    const struct agent_row rows[] = {{5, 1, AGENT_UNKNOWN, 3, 4, 5, AGENT_UNKNOWN, 2},
                                     {6, INT64_MAX, 2, 3, 4, 5, 6, 7}};
    struct agent_reading r2;
    static struct agent_row rows2[AGENT_SERIES_MAX];
    struct agent_series series = {.after_ns = 4, .row = rows2};
    struct host_facts host = {.cpu_model = "x\x1b[31m", .cores_online = 7, .has_tun = true};
    struct host_facts host2;
    struct text t = {0};
    struct err e = ERR_INIT;
    (void)state;
    agent_write_reading(&r, &t);
    assert_int_equal(agent_read_reading(t.data, t.length, &r2, &e), 0);
    assert_string_equal(r2.label, r.label);
    assert_memory_equal(&r2.at_ns, &r.at_ns, sizeof r - offsetof(struct agent_reading, at_ns));
    text_free(&t);
    agent_write_series(rows, 2, true, &t);
    assert_int_equal(agent_read_series(t.data, t.length, &series, &e), 0);
    assert_int_equal(series.count, 2);
    assert_true(series.is_whole);
    assert_memory_equal(rows, rows2, sizeof rows);
    series.after_ns = 5;
    assert_int_equal(agent_read_series(t.data, t.length, &series, &e), -1);
    assert_int_equal(series.count, 0);
    text_free(&t);
    agent_write_host(&host, &t);
    assert_int_equal(agent_read_host(t.data, t.length, &host2, &e), 0);
    assert_null(strchr(host2.cpu_model, '\x1b'));
    assert_int_equal(host2.cores_online, 7);
    assert_true(host2.has_tun && !host2.has_netem);
    text_free(&t);
}

#define PARTS(target, present, cpu)                   \
    HEAD "\"target\":" target ",\"present\":" present \
         ",\"at_ns\":1,\"processes\":1,\"threads\":1" cpu "}"
#define HEAD "{\"schema\":\"pqc-bench-agent/1\","
#define COLUMNS \
    "\"fields\":[\"at_ns\",\"cpu_ns\",\"thread_cpu_ns\",\"away_ns\",\"active_threads\"],"

static void malformed_messages_are_refused(void **state)
{
    static const char *const readings[] = {
        "",
        "[]",
        "null",
        "{}",
        HEAD "\"target\":\"x\"}",
        PARTS("1", "true", ",\"cpu_ns\":1"),
        PARTS("\"x\"", "1", ",\"cpu_ns\":1"),
        PARTS("\"x\"", "true", ",\"cpu_ns\":-1"),
        PARTS("\"x\"", "true", ",\"cpu_ns\":1.5"),
        PARTS("\"x\"", "true", ",\"cpu_ns\":null"),
        PARTS("\"x\"", "true", ",\"cpu_ns\":1,\"cpu_ns\":1"),
        PARTS("\"x\"", "true", ",\"cpu_ns\":1,\"steal_ns\":\"1\""),
        PARTS("\"x\"", "true", ""),
        PARTS("\"x\"", "true", ",\"cpu_ns\":99999999999999999999"),
        "{\"schema\":\"pqc-bench-agent/2\"}",
    };
    static const char taken[] = PARTS("\"x\"", "true", ",\"cpu_ns\":1,\"steal_ns\":null");
    static const char *const series[] = {
        HEAD "\"rows\":[]}",
        HEAD COLUMNS "\"rows\":{}}",
        HEAD COLUMNS "\"rows\":[[1,2,3,4]]}",
        HEAD COLUMNS "\"rows\":[1]}",
        HEAD COLUMNS "\"rows\":[[2,1,1,1,1],[2,1,1,1,1]]}",
        HEAD COLUMNS "\"rows\":[[2,1,1,1,-1]]}",
        HEAD COLUMNS "\"rows\":[[2,1,1,1,null]]}",
    };
    struct agent_reading r;
    struct agent_row rows[4];
    struct agent_series out = {.row = rows};
    struct err e = ERR_INIT;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(readings); i++)
        if (agent_read_reading(readings[i], strlen(readings[i]), &r, &e) != -1)
            fail_msg("taken: %s", readings[i]);
    for (size_t i = 0; i < COUNT_OF(series); i++)
        if (agent_read_series(series[i], strlen(series[i]), &out, &e) != -1)
            fail_msg("taken: %s", series[i]);
    assert_int_equal(agent_read_reading(taken, strlen(taken), &r, &e), 0);
    assert_int_equal(r.steal_ns, AGENT_UNKNOWN);
    static const char good[] = HEAD COLUMNS "\"rows\":[[2,1,1,1,1]]}";
    assert_int_equal(agent_read_series(good, strlen(good), &out, &e), 0);
    assert_false(out.is_whole);
}

static void clocks_are_on_the_line_between_two_readings(void **state)
{
    const struct agent_clock a = {.at_ns = 10000, .offset_ns = 5000},
                             b = {.at_ns = 20000, .offset_ns = 5100},
                             behind = {.at_ns = 10000, .offset_ns = -5000};
    (void)state;
    assert_int_equal(agent_clock_ours(&a, &b, 5000), 10000);
    assert_int_equal(agent_clock_ours(&a, &b, 10000), 15050);
    assert_int_equal(agent_clock_ours(&a, &a, 10000), 15000);
    assert_int_equal(agent_clock_ours(&behind, &behind, 15000), 10000);
}

/* ---- the endpoint ---- */

#define BIG_BYTES (16u << 20)
#define HOUR_NS (UINT64_C(3600) * 1000 * MS)

static struct bed {
    struct agent_http http;
    struct loop *loop;
    struct address at;
    pthread_t thread;
    atomic_bool is_over;
} bed;

static bool say(void *arg, const char *path, struct text *body)
{
    const struct agent_reading behind = {.label = "x", .at_ns = clock_now_ns() - HOUR_NS};
    (void)arg;
    if (strcmp(path, "/v1/sample") == 0)
        agent_write_reading(&behind, body);
    else if (strcmp(path, "/big") == 0)
        for (size_t i = 0; i < BIG_BYTES / 16; i++)
            text_add(body, "0123456789abcdef");
    else
        text_addf(body, "\"%s\"", path);
    return strcmp(path, "/none") != 0;
}

static void *serve(void *arg)
{
    (void)arg;
    while (!atomic_load(&bed.is_over))
        if (loop_run_once(bed.loop, LOOP_NEVER) < 0)
            abort();
    return NULL;
}

static int set_up(void **state)
{
    struct err e = ERR_INIT;
    struct address any;
    const struct socket_listen_options options = {.backlog = 0};
    (void)state;
    memset(&bed, 0, sizeof bed);
    assert_int_equal(agent_parse_address(":0", &any, &e), 0);
    assert_true(address_is_loopback(&any));
    bed.loop = loop_new(NULL, &e);
    const int fd = socket_listen(&any, &options, &bed.at, &e);
    assert_true(fd >= 0);
    assert_int_equal(agent_http_init(&bed.http, bed.loop, fd, say, NULL, &e), 0);
    bed.http.timeout_ns = 500 * MS;
    return pthread_create(&bed.thread, NULL, serve, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    atomic_store(&bed.is_over, true);
    loop_wake(bed.loop);
    pthread_join(bed.thread, NULL);
    agent_http_fini(&bed.http);
    loop_free(bed.loop);
    return 0;
}

static int dial(void)
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, &bed.at.u.any, bed.at.length), 0);
    return fd;
}

/* Everything until the end of the stream, at most 10 s. */
static size_t receive(int fd, char *buf, size_t size)
{
    size_t n = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (n < size - 1 && poll(&p, 1, 10000) == 1) {
        const ssize_t part = recv(fd, buf + n, size - 1 - n, 0);
        if (part <= 0)
            break;
        n += (size_t)part;
    }
    buf[n] = '\0';
    return n;
}

static void send_text(int fd, const char *text, size_t n)
{
    (void)!send(fd, text, n, MSG_NOSIGNAL);
}

/* Status of the first answer to what was sent, 0 none; the stream must end. */
static int ask(const char *request, size_t n)
{
    static char buf[65536];
    const int fd = dial();
    int status = 0;
    send_text(fd, request, n);
    receive(fd, buf, sizeof buf);
    close(fd);
    (void)!sscanf(buf, "HTTP/1.1 %d ", &status);
    return status;
}

static void requests_are_answered_or_refused_by_status(void **state)
{
    static const struct {
        const char *request;
        int status;
    } cases[] = {
        {"GET /x HTTP/1.1\r\nConnection: close\r\n\r\n", 200},
        {"GET /x HTTP/1.0\r\n\r\n", 200},
        {"GET /x HTTP/1.1\r\n\r\nGET /x HTTP/1.1\r\n\r\n", 200}, /* the second is dropped */
        {"GET /none HTTP/1.1\r\nConnection: close\r\n\r\n", 404},
        {"HEAD /x HTTP/1.1\r\n\r\n", 405},
        {"POST /x HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 405},
        {"DELETE /x HTTP/1.1\r\n\r\n", 405},
        {"GET /x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", 413},
        {"GET /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
        {"GET /x HTTP/2.0\r\n\r\n", 505},
        {"GET ../../etc/passwd HTTP/1.1\r\n\r\n", 400},
        {"\x16\x03\x01\x02\x01\x01\xfc\x03\x03\r\n\r\n", 400},
        {"\r\n\r\n", 400},
        {"GET /x HTTP/1.1\r\n", 0}, /* never complete: cut off */
        {"", 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (ask(cases[i].request, strlen(cases[i].request)) != cases[i].status)
            fail_msg("not %d: %s", cases[i].status, cases[i].request);
}

static void a_head_without_end_is_refused(void **state)
{
    static char huge[4 * HTTP_HEAD_BYTES_MAX];
    (void)state;
    memset(huge, 'a', sizeof huge);
    memcpy(huge, "GET /x HTTP/1.1\r\nX: ", 20);
    const int status = ask(huge, sizeof huge);
    assert_true(status == 431 || status == 0); /* 0: reset, as more was on its way */
    assert_int_equal(ask(huge, HTTP_HEAD_BYTES_MAX), 431);
}

static void a_kept_connection_serves_again(void **state)
{
    static const char request[] = "GET /x HTTP/1.1\r\n\r\n";
    const int fd = dial();
    (void)state;
    for (int i = 0; i < 3; i++) {
        char buf[4096];
        send_text(fd, request, strlen(request));
        size_t n = 0;
        while (n < 4 || memcmp(buf + n - 4, "\"/x\"", 4) != 0) {
            const ssize_t part = recv(fd, buf + n, sizeof buf - n, 0);
            assert_true(part > 0);
            n += (size_t)part;
        }
    }
    close(fd);
}

/* One that was not asked to wait for the first answer is not served. */
static void two_requests_at_once_get_one_answer_and_the_end(void **state)
{
    static const char both[] = "GET /x HTTP/1.1\r\n\r\nGET /y HTTP/1.1\r\n\r\n";
    static char buf[4096];
    (void)state;
    bed.http.timeout_ns = HOUR_NS;
    const uint64_t from_ns = clock_now_ns();
    const int fd = dial();
    send_text(fd, both, strlen(both));
    receive(fd, buf, sizeof buf);
    close(fd);
    assert_non_null(strstr(buf, "\"/x\""));
    assert_null(strstr(buf, "\"/y\""));
    assert_true(clock_now_ns() - from_ns < 9000 * MS); /* receive waits 10 s for more */
}

static void another_clock_is_known_within_the_error(void **state)
{
    struct agent_reading r;
    struct agent_clock clock;
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(agent_client_read(&bed.at, &r, &clock, &e), 0);
    assert_true(clock.error_ns < 1000 * MS);
    assert_true((uint64_t)llabs((long long)clock.offset_ns - (long long)HOUR_NS) <=
                clock.error_ns);
}

/* A byte now and then does not keep a connection open beyond its time. */
static void slow_senders_are_cut_off(void **state)
{
    const int fd = dial();
    const uint64_t from_ns = clock_now_ns();
    struct pollfd p = {.fd = fd, .events = POLLIN};
    (void)state;
    do
        send_text(fd, "G", 1);
    while (poll(&p, 1, 20) == 0 && clock_now_ns() - from_ns < 20000 * MS);
    assert_true(clock_now_ns() - from_ns >= 400 * MS);
    assert_true(clock_now_ns() - from_ns < 20000 * MS);
    close(fd);
}

static void slow_readers_are_cut_off(void **state)
{
    static const char request[] = "GET /big HTTP/1.1\r\n\r\n",
                      closing[] = "GET /big HTTP/1.1\r\nConnection: close\r\n\r\n";
    static char buf[BIG_BYTES + 4096];
    int fd = dial();
    (void)state;
    send_text(fd, request, strlen(request));
    usleep(1500000);
    assert_true(receive(fd, buf, sizeof buf) < BIG_BYTES);
    close(fd);
    /* One that begins late and reads on gets all of it. */
    bed.http.timeout_ns = HOUR_NS;
    fd = dial();
    send_text(fd, closing, strlen(closing));
    usleep(200000); /* the socket is full meanwhile */
    assert_true(receive(fd, buf, sizeof buf) > BIG_BYTES);
    close(fd);
}

static void a_crowd_that_says_nothing_is_pushed_out(void **state)
{
    static const char request[] = "GET /x HTTP/1.1\r\nConnection: close\r\n\r\n";
    int crowd[4 * AGENT_HTTP_CONNS];
    (void)state;
    bed.http.timeout_ns = HOUR_NS; /* it would wait for ever */
    for (size_t i = 0; i < COUNT_OF(crowd); i++)
        crowd[i] = dial();
    assert_int_equal(ask(request, strlen(request)), 200);
    for (size_t i = 0; i < COUNT_OF(crowd); i++)
        close(crowd[i]);
    assert_int_equal(ask(request, strlen(request)), 200);
}

/* ---- all together ---- */

static void an_agent_tells_its_own_process(void **state)
{
    struct agent_options options = {.at = {.length = 0}};
    struct agent_reading before, after;
    struct agent_clock clock;
    struct agent_row *rows;
    struct host_facts host;
    struct err e = ERR_INIT;
    size_t n;
    (void)state;
    assert_int_equal(agent_parse_address(":0", &options.at, &e), 0);
    struct agent *a = agent_start(&options, &e);
    assert_non_null(a);
    const struct address *at = agent_address(a);
    assert_int_equal(agent_client_read(at, &before, &clock, &e), 0);
    const uint64_t from_ns = clock_thread_cpu_ns();
    clock_spin_cpu_ns(200 * MS);
    const uint64_t used_ns = clock_thread_cpu_ns() - from_ns;
    assert_int_equal(agent_client_read(at, &after, &clock, &e), 0);
    assert_string_equal(after.label, "self");
    /* The same clock: the offset is 0 within the error. */
    assert_true((uint64_t)llabs((long long)clock.offset_ns) <= clock.error_ns);
    assert_true(after.cpu_ns - before.cpu_ns >= used_ns);
    assert_true(after.cpu_ns - before.cpu_ns < used_ns + used_ns / 4);
    assert_int_equal(agent_client_read_series(at, before.at_ns, &rows, &n, &e), 0);
    assert_true(n >= 2);
    assert_true(rows[n - 1].cpu_ns - rows[0].cpu_ns > used_ns / 2);
    assert_true(rows[n - 1].thread_cpu_ns - rows[0].thread_cpu_ns > used_ns / 2);
    free(rows);
    assert_int_equal(agent_client_read_host(at, &host, &e), 0);
    assert_true(host.cores_online >= 1);
    /* What the agent itself costs is no part of it: this thread is the only other one. */
    const uint64_t own_ns = clock_thread_cpu_ns();
    assert_int_equal(agent_client_read(at, &before, &clock, &e), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(agent_client_read(at, &after, &clock, &e), 0);
    assert_true(after.cpu_ns - before.cpu_ns <= clock_thread_cpu_ns() - own_ns);
    /* A second one there is refused. */
    options.at = *at;
    assert_null(agent_start(&options, &e));
    assert_int_equal(e.kind, ERR_SYSTEM);
    agent_stop(a);
    assert_int_equal(agent_client_read(&options.at, &after, &clock, &e), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_a_name_are_summed),
        cmocka_unit_test(a_process_has_its_descendants),
        cmocka_unit_test(nothing_to_watch_is_refused),
        cmocka_unit_test(a_process_that_ends_keeps_its_time),
        cmocka_unit_test(what_was_reaped_before_does_not_count),
        cmocka_unit_test(a_number_that_is_used_again_is_another_process),
        cmocka_unit_test(stopped_is_when_all_are),
        cmocka_unit_test(a_kernel_without_schedstat_is_known_as_one),
        cmocka_unit_test(messages_come_back_as_they_were),
        cmocka_unit_test(malformed_messages_are_refused),
        cmocka_unit_test(clocks_are_on_the_line_between_two_readings),
        cmocka_unit_test_setup_teardown(requests_are_answered_or_refused_by_status, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_head_without_end_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_kept_connection_serves_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_requests_at_once_get_one_answer_and_the_end, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_clock_is_known_within_the_error, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(slow_senders_are_cut_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slow_readers_are_cut_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_crowd_that_says_nothing_is_pushed_out, set_up,
                                        tear_down),
        cmocka_unit_test(an_agent_tells_its_own_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

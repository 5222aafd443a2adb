/* SPDX-License-Identifier: Apache-2.0 */
/* Can two threads shake hands at once, each over contexts of its own, without a race?
 *   threads MODULE.so; meant for the thread sanitizer as well. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "lab.h"

#define THREADS 2
#define HANDSHAKES 20

struct worker {
    pthread_t thread;
    struct spec spec;
    unsigned done;
};

/* cmocka's assertions belong to the main thread: here a count tells. */
static void *work(void *arg)
{
    struct worker *worker = arg;
    struct tls_context *client = lab->context_new(&worker->spec.client, NULL);
    struct tls_context *server = lab->context_new(&worker->spec.server, NULL);
    for (int i = 0; client != NULL && server != NULL && i < HANDSHAKES; i++) {
        struct pump pump;
        struct tls_info info;
        pump_init(&pump, lab, lab);
        if (pump_connect(&pump, client, server, HOST, NULL) && pump_handshake(&pump)) {
            lab->info(pump.conn[CLIENT], &info);
            worker->done += strcmp(info.group, worker->spec.client.groups) == 0;
        }
        pump_fini(&pump);
    }
    lab->context_free(client);
    lab->context_free(server);
    return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    struct worker worker[THREADS];
    static const char *const groups[THREADS] = {"X25519", "X25519MLKEM768"};
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){.spec = spec_new()};
        spec_groups(&worker[i].spec, groups[i], groups[i]);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&worker[i].thread, NULL, work, &worker[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(worker[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(worker[i].done, HANDSHAKES);
}

/* The client on one thread and the server on another, as the benchmark has them, is the
 * business of the ring; here a context is made on one thread and freed on another. */
static void *free_context(void *arg)
{
    lab->context_free(arg);
    return NULL;
}

static void a_context_may_be_freed_by_another_thread(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    pair_shake(&pair, &spec);
    pump_fini(&pair.pump);
    for (int side = 0; side < SIDES; side++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, free_context, pair.context[side]), 0);
        pthread_join(thread, NULL);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_disturb_each_other),
        cmocka_unit_test(a_context_may_be_freed_by_another_thread),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: %s MODULE.so\n", argv[0]);
        return 2;
    }
    lab = lab_load(argv[1]);
    int failed = cmocka_run_group_tests_name("threads", tests, NULL, NULL);
    lab_fini();
    return failed == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Are full, resumed and early-data handshakes kept apart, and is their sum the whole? */
#include "cmocka_all.h"
#include <string.h>
#include "run/shard.h"

static void record(struct shard *s, enum result_handshake handshake, uint64_t tls_ns)
{
    struct shard_record r = {.end_ns = tls_ns, .handshake = handshake};
    for (unsigned i = 0; i < RESULT_PHASES; i++)
        r.phase_ns[i] = tls_ns + i;
    shard_record(s, &r);
    s->tally.scheduled++;
    s->tally.completed++;
}

struct bed {
    struct shard a, b;
    struct result *result;
    struct result_trial *trial;
    struct result_negotiated seen;
    struct result_bytes bytes;
};

static void set_up(struct bed *bed)
{
    memset(bed, 0, sizeof *bed);
    shard_init(&bed->a);
    shard_init(&bed->b);
    bed->result = result_new(RESULT_KIND_LOAD);
    bed->trial = arm_add_trial(result_add_arm(bed->result, "a"));
}

static void merge(struct bed *bed)
{
    struct err e = ERR_INIT;
    shard_merge(&bed->a, bed->trial, &bed->seen, &bed->bytes);
    shard_merge(&bed->b, bed->trial, &bed->seen, &bed->bytes);
    if (result_check(bed->result, &e) != 0)
        fail_msg("%s", e.text);
}

static void tear_down(struct bed *bed)
{
    shard_fini(&bed->a);
    shard_fini(&bed->b);
    result_free(bed->result);
    negotiated_free(&bed->seen);
    bytes_free(&bed->bytes);
}

static uint64_t samples(const struct bed *bed, enum result_handshake handshake)
{
    const struct histogram *h = trial_latency_of(bed->trial, handshake, RESULT_PHASE_TLS);
    return h == NULL ? 0 : histogram_count(h);
}

static void full_ones_alone_are_not_split(void **state)
{
    (void)state;
    static struct bed bed;
    set_up(&bed);
    record(&bed.a, RESULT_HANDSHAKE_FULL, 1000);
    record(&bed.b, RESULT_HANDSHAKE_FULL, 2000);
    merge(&bed);
    for (unsigned i = 0; i < RESULT_HANDSHAKES; i++)
        assert_null(bed.trial->apart_ns[i][RESULT_PHASE_TLS]);
    assert_int_equal(samples(&bed, RESULT_HANDSHAKE_FULL), 2);
    assert_int_equal(samples(&bed, RESULT_HANDSHAKE_RESUMED), 0);
    tear_down(&bed);
}

/* The first worker saw full ones alone: they must not be lost when the second one's are
 * told apart. */
static void the_split_adds_up_whichever_worker_saw_what(void **state)
{
    (void)state;
    static struct bed bed;
    for (int turn = 0; turn < 2; turn++) {
        set_up(&bed);
        struct shard *one = turn == 0 ? &bed.a : &bed.b, *other = turn == 0 ? &bed.b : &bed.a;
        for (unsigned i = 0; i < 3; i++)
            record(one, RESULT_HANDSHAKE_FULL, 1000);
        for (unsigned i = 0; i < 5; i++)
            record(other, RESULT_HANDSHAKE_RESUMED, 500);
        record(other, RESULT_HANDSHAKE_EARLY, 100);
        merge(&bed);
        assert_int_equal(samples(&bed, RESULT_HANDSHAKE_FULL), 3);
        assert_int_equal(samples(&bed, RESULT_HANDSHAKE_RESUMED), 5);
        assert_int_equal(samples(&bed, RESULT_HANDSHAKE_EARLY), 1);
        assert_int_equal(histogram_count(bed.trial->latency_ns[RESULT_PHASE_TLS]), 9);
        tear_down(&bed);
    }
}

static void a_reset_forgets_every_sort(void **state)
{
    (void)state;
    static struct bed bed;
    set_up(&bed);
    record(&bed.a, RESULT_HANDSHAKE_FULL, 1000);
    record(&bed.a, RESULT_HANDSHAKE_EARLY, 1000);
    bed.a.resume_asked = bed.a.resume_offered = 1;
    range_add(&bed.a.tickets, 255);
    shard_reset(&bed.a);
    merge(&bed);
    assert_null(bed.trial->latency_ns[RESULT_PHASE_TLS]);
    assert_int_equal(bed.seen.resume_asked, 0);
    assert_int_equal(bed.bytes.tickets.count, 0);
    tear_down(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_ones_alone_are_not_split),
        cmocka_unit_test(the_split_adds_up_whichever_worker_saw_what),
        cmocka_unit_test(a_reset_forgets_every_sort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

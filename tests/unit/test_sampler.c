/* SPDX-License-Identifier: Apache-2.0 */
/* Are a worker's totals known however long a trial is, and is a tick put off not a stall? */
#include "cmocka_all.h"
#include <math.h>
#include <stdlib.h>
#include "run/sampler.h"

#define MS UINT64_C(1000000)
#define BEGAN_NS (1000 * MS) /* made-up times: the sampler reads no clock */

static struct sampler sampler;

static int set_up(void **state)
{
    (void)state;
    sampler_init(&sampler, &(struct cpu_set){.count = 0});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sampler_fini(&sampler);
    return 0;
}

/* A tick every 10 ms, each after 2 ms of work. */
static void tick_times(size_t count)
{
    for (size_t i = 1; i <= count; i++)
        sampler_tick(&sampler, BEGAN_NS + i * 10 * MS, i * 2 * MS);
}

static void the_first_sample_outlives_the_ring(void **state)
{
    struct sample kept;
    size_t count;
    (void)state;
    sampler_keep(&sampler, BEGAN_NS + 25 * MS);
    sampler_begin(&sampler, BEGAN_NS, 0);
    tick_times(SAMPLER_RING + 10);
    struct sample *samples = sampler_copy(&sampler, 0, &count, &kept);
    assert_int_equal(count, SAMPLER_RING);
    assert_true(samples[0].at_ns > BEGAN_NS + 25 * MS);
    assert_int_equal(kept.at_ns, BEGAN_NS + 20 * MS);
    assert_int_equal(kept.cpu_ns, 4 * MS);
    /* Of all the time from then on a fifth, but for what this process had to wait. */
    samples[count - 1].run_delay_ns = kept.run_delay_ns;
    assert_true(fabs(sample_busy_share(&kept, &samples[count - 1]) - 0.2) < 1e-9);
    free(samples);
}

static void a_thread_that_runs_already_keeps_its_last_sample(void **state)
{
    struct sample kept;
    size_t count;
    (void)state;
    sampler_begin(&sampler, BEGAN_NS, 0);
    tick_times(3);
    sampler_keep(&sampler, BEGAN_NS + 35 * MS);
    free(sampler_copy(&sampler, 0, &count, &kept));
    assert_int_equal(kept.at_ns, BEGAN_NS + 30 * MS);
    sampler_tick(&sampler, BEGAN_NS + 36 * MS, 7 * MS);
    free(sampler_copy(&sampler, 0, &count, &kept));
    assert_int_equal(kept.at_ns, BEGAN_NS + 30 * MS);
    sampler_begin(&sampler, BEGAN_NS + 40 * MS, 0); /* another thread: other totals */
    free(sampler_copy(&sampler, 0, &count, &kept));
    assert_int_equal(count, 1);
    assert_int_equal(kept.at_ns, 0);
}

/* Late by 5 ms without own work is a stall; put off by 5 ms is none. */
static void a_tick_put_off_is_no_stall(void **state)
{
    size_t count;
    (void)state;
    for (int is_put_off = 0; is_put_off <= 1; is_put_off++) {
        sampler_begin(&sampler, BEGAN_NS, 0);
        if (is_put_off)
            sampler_put_off(&sampler, BEGAN_NS + 15 * MS);
        sampler_tick(&sampler, BEGAN_NS + 15 * MS, 0);
        struct sample *samples = sampler_copy(&sampler, 0, &count, NULL);
        const uint64_t delay_ns = samples[0].run_delay_ns == UINT64_MAX
                                      ? 0
                                      : samples[1].run_delay_ns - samples[0].run_delay_ns;
        assert_int_equal(count, 2);
        if (is_put_off)
            assert_int_equal(samples[1].away_ns, delay_ns);
        else
            assert_true(samples[1].away_ns >= 5 * MS);
        free(samples);
    }
}

static void busy_is_running_or_waiting_to_run(void **state)
{
    static const uint64_t unknown = UINT64_MAX;
    const struct sample from = {.at_ns = 1000, .cpu_ns = 100, .run_delay_ns = 50};
    const struct {
        struct sample to;
        double share; /* NAN: unknown */
    } cases[] = {
        {{.at_ns = 2000, .cpu_ns = 400, .run_delay_ns = 150}, 0.4},
        {{.at_ns = 2000, .cpu_ns = 400, .run_delay_ns = unknown}, 0.3},
        {{.at_ns = 2000, .cpu_ns = 900, .run_delay_ns = 950}, 1}, /* more than there is */
        {{.at_ns = 1000, .cpu_ns = 400, .run_delay_ns = 150}, NAN},
        {{.at_ns = 2000, .cpu_ns = 50, .run_delay_ns = 150}, NAN}, /* another thread's */
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const double share = sample_busy_share(&from, &cases[i].to);
        assert_int_equal(isnan(share), isnan(cases[i].share));
        if (!isnan(share))
            assert_true(fabs(share - cases[i].share) < 1e-9);
    }
    assert_true(isnan(sample_busy_share(&from, NULL)));
    assert_true(isnan(sample_busy_share(&(struct sample){.at_ns = 0}, &cases[0].to)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_sample_outlives_the_ring, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_thread_that_runs_already_keeps_its_last_sample,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_tick_put_off_is_no_stall, set_up, tear_down),
        cmocka_unit_test(busy_is_running_or_waiting_to_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

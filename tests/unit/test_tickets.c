/* SPDX-License-Identifier: Apache-2.0 */
/* Is exactly the share asked for to resume, and is each ticket used as often as it may be? */
#include "cmocka_all.h"
#include <string.h>
#include "run/tickets.h"

#define S UINT64_C(1000000000)

/* A session is a place in this table. */
static char sessions[100];
static unsigned freed[100];

static struct tls_session *session(size_t i)
{
    return (struct tls_session *)(void *)&sessions[i];
}

static void count_freed(struct tls_session *s)
{
    freed[(char *)s - sessions]++;
}

static uint32_t lifetime(const struct tls_session *s)
{
    (void)s;
    return 10;
}

static const struct tls_backend backend = {.session_free = count_freed,
                                           .session_lifetime_s = lifetime};

static void keep(struct tickets *t, size_t i, bool serves_many)
{
    const struct ticket ticket = {session(i), i * S, serves_many};
    tickets_keep(t, &ticket);
}

static int set_up(void **state)
{
    (void)state;
    memset(freed, 0, sizeof freed);
    return 0;
}

/* Of any n in a row the share differs by less than one. */
static void turns_are_evenly_spread(void **state)
{
    (void)state;
    static const double shares[] = {0, 0.001, 0.1, 1.0 / 3, 0.5, 0.9, 0.95, 1};
    for (size_t i = 0; i < COUNT_OF(shares); i++) {
        struct tickets t;
        unsigned turns = 0;
        tickets_init(&t, &backend, shares[i]);
        for (unsigned n = 1; n <= 10000; n++) {
            turns += tickets_take_turn(&t);
            assert_true((double)turns <= shares[i] * n + 1e-6);
            assert_true((double)turns > shares[i] * n - 1);
        }
    }
}

static void the_newest_is_used_first_and_the_oldest_dropped(void **state)
{
    (void)state;
    struct tickets t;
    tickets_init(&t, &backend, 1);
    assert_null(tickets_take(&t, 0).session);
    for (size_t i = 0; i < TICKETS_MAX + 3; i++)
        keep(&t, i, false);
    assert_int_equal(t.count, TICKETS_MAX);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(freed[i], i < 3);
    const struct ticket taken = tickets_take(&t, 0);
    assert_ptr_equal(taken.session, session(TICKETS_MAX + 2));
    tickets_fini(&t);
    for (size_t i = 0; i < TICKETS_MAX + 2; i++)
        assert_int_equal(freed[i], 1);
    assert_int_equal(freed[TICKETS_MAX + 2], 0); /* the taker's */
}

static void a_ticket_serves_one_connection_or_many(void **state)
{
    (void)state;
    for (int serves_many = 0; serves_many < 2; serves_many++) {
        struct tickets t;
        tickets_init(&t, &backend, 1);
        keep(&t, 1, serves_many != 0);
        const struct ticket taken = tickets_take(&t, 0);
        assert_int_equal(t.count, 0);
        tickets_done(&t, &taken);
        assert_int_equal(t.count, serves_many);
        assert_int_equal(freed[1], !serves_many);
        tickets_fini(&t);
        assert_int_equal(freed[1], 1);
        freed[1] = 0;
    }
}

static void an_expired_ticket_is_not_offered(void **state)
{
    (void)state;
    struct tickets t;
    tickets_init(&t, &backend, 1);
    keep(&t, 1, false); /* kept at 1 s and 2 s, good for 10 s */
    keep(&t, 2, false);
    assert_ptr_equal(tickets_take(&t, 12 * S - 1).session, session(2));
    keep(&t, 2, false);
    assert_null(tickets_take(&t, 12 * S).session);
    assert_int_equal(freed[1], 1);
    assert_int_equal(freed[2], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(turns_are_evenly_spread, set_up),
        cmocka_unit_test_setup(the_newest_is_used_first_and_the_oldest_dropped, set_up),
        cmocka_unit_test_setup(a_ticket_serves_one_connection_or_many, set_up),
        cmocka_unit_test_setup(an_expired_ticket_is_not_offered, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Is what is written what the format says, block by block? */
#include "cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "net/pcapng.h"

struct written {
    char *data;
    size_t bytes;
};

static uint32_t word(const struct written *w, size_t at)
{
    uint32_t value;
    assert_true(at + 4 <= w->bytes);
    memcpy(&value, w->data + at, 4);
    return value;
}

static struct written write_one(size_t bytes, const char *comment)
{
    struct written w;
    char packet[128];
    FILE *f = open_memstream(&w.data, &w.bytes);
    memset(packet, 'p', sizeof(packet));
    assert_int_equal(pcapng_begin(f, "client"), 0);
    assert_int_equal(pcapng_write(f, 0x123456789abcdef0u, packet, bytes, comment), 0);
    assert_int_equal(fclose(f), 0);
    return w;
}

/* Every block's length stands at both of its ends and divides by four. */
static void blocks_follow_each_other_to_the_end(void **state)
{
    static const char *const comments[] = {NULL, "", "a", "four", "lost"};
    (void)state;
    for (size_t bytes = 20; bytes < 28; bytes++)
        for (size_t i = 0; i < COUNT_OF(comments); i++) {
            const struct written w = write_one(bytes, comments[i]);
            size_t at = 0, blocks = 0;
            for (; at < w.bytes; blocks++) {
                const uint32_t length = word(&w, at + 4);
                assert_int_equal(length % 4, 0);
                assert_int_equal(word(&w, at + length - 4), length);
                at += length;
            }
            assert_int_equal(at, w.bytes);
            assert_int_equal(blocks, 3);
            free(w.data);
        }
}

static void a_packet_stands_as_it_was(void **state)
{
    (void)state;
    const struct written w = write_one(21, "lost");
    assert_int_equal(word(&w, 0), 0x0a0d0d0a);
    assert_int_equal(word(&w, 8), 0x1a2b3c4d);
    const size_t interface = word(&w, 4), packet = interface + word(&w, interface + 4);
    assert_int_equal(word(&w, interface), 1);
    assert_int_equal(word(&w, interface + 8), 101);
    assert_int_equal(word(&w, packet), 6);
    assert_int_equal(word(&w, packet + 12), 0x12345678);
    assert_int_equal(word(&w, packet + 16), 0x9abcdef0);
    assert_int_equal(word(&w, packet + 20), 21);
    assert_int_equal(word(&w, packet + 24), 21);
    assert_memory_equal(w.data + packet + 28, "ppppppppppppppppppppp\0\0\0", 24);
    assert_int_equal(word(&w, packet + 52), 4u << 16 | 1);
    assert_memory_equal(w.data + packet + 56, "lost\0\0\0\0", 8);
    free(w.data);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    FILE *f = fopen("/dev/full", "w");
    int failed = pcapng_begin(f, "client");
    for (int i = 0; i < 10000 && failed == 0; i++)
        failed = pcapng_write(f, 0, "packet", 6, NULL);
    assert_int_equal(failed, -1);
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_follow_each_other_to_the_end),
        cmocka_unit_test(a_packet_stands_as_it_was),
        cmocka_unit_test(a_full_disk_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

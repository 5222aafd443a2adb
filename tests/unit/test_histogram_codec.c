/* SPDX-License-Identifier: Apache-2.0 */
/* Do other implementations of HdrHistogram and ours read each other, and does nobody else's
 * text do harm? */
#include "cmocka_all.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/base64.h"
#include "base/rng.h"
#include "base/text.h"
#include "stats/histogram.h"

#define LINE_LIMIT 65536
#define HEADER_BYTES 40
#define LARGEST ((uint64_t)INT64_MAX)

/* One vector of the other implementation, as its lines come by. */
struct vector {
    char name[64];
    unsigned digits;
    uint64_t lowest;
    struct histogram *h;
    size_t cursor;
    unsigned buckets, percentiles;
};

static bool is_our_layout(const struct vector *v)
{
    return v->digits == 3 && v->lowest == 1;
}

static void check_encoded(struct vector *v, const char *text)
{
    struct err e = ERR_INIT;
    v->h = histogram_decode(text, &e);
    if (!v->h)
        fail_msg("%s: %s", v->name, e.text);
}

/* The bytes inside what we encode: header and payload. */
static unsigned char *unwrap(const struct histogram *h, size_t *length)
{
    size_t packed_length;
    uLongf size = 8u << 20;
    char *text = histogram_encode(h);
    unsigned char *packed = base64_decode(text, &packed_length);
    unsigned char *plain = malloc(size);
    assert_memory_equal(text, "HISTFAAAA", 9);
    assert_non_null(packed);
    assert_non_null(plain);
    assert_int_equal(uncompress(plain, &size, packed + 8, (uLong)packed_length - 8), Z_OK);
    free(text);
    free(packed);
    *length = size;
    return plain;
}

/* What we write of it is what the other one writes, byte by byte. */
static void check_payload(const struct vector *v, const char *hex)
{
    size_t length;
    if (!is_our_layout(v))
        return;
    unsigned char *plain = unwrap(v->h, &length);
    assert_int_equal(length - HEADER_BYTES, strlen(hex) / 2);
    for (size_t i = 0; i + HEADER_BYTES < length; i++) {
        char byte[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        assert_int_equal(plain[HEADER_BYTES + i], strtoul(byte, NULL, 16));
    }
    free(plain);
}

static void check_total(const struct vector *v, const char *line)
{
    unsigned long long count, min, max;
    double mean;
    int fields = sscanf(line, "%llu %llu %llu %lf", &count, &min, &max, &mean);
    assert_true(histogram_count(v->h) == count);
    if (count == 0)
        return;
    assert_int_equal(fields, 4);
    assert_true(histogram_min(v->h) == min);
    assert_true(histogram_max(v->h) == max);
    double error = fabs(histogram_mean(v->h) - mean);
    if (error > 1e-12 * mean)
        fail_msg("%s: mean %.17g, not %.17g", v->name, histogram_mean(v->h), mean);
}

static void check_percentile(struct vector *v, const char *line)
{
    double percentile;
    unsigned long long expected;
    assert_int_equal(sscanf(line, "%lf %llu", &percentile, &expected), 2);
    uint64_t got = histogram_quantile(v->h, percentile / 100);
    uint64_t most = expected + (is_our_layout(v) ? 0 : expected / 1000);
    if (got < expected || got > most)
        fail_msg("%s: p%g is %llu, not %llu", v->name, percentile, (unsigned long long)got,
                 expected);
    v->percentiles++;
}

static void check_bucket(struct vector *v, const char *line)
{
    unsigned long long low, high, count;
    uint64_t our_low, our_high, our_count;
    assert_int_equal(sscanf(line, "%llu %llu %llu", &low, &high, &count), 3);
    v->buckets++;
    if (!is_our_layout(v))
        return;
    assert_true(histogram_next(v->h, &v->cursor, &our_low, &our_high, &our_count));
    if (our_low != low || our_high != high || our_count != count)
        fail_msg("%s: bucket %llu..%llu: %llu, not %llu..%llu: %llu", v->name,
                 (unsigned long long)our_low, (unsigned long long)our_high,
                 (unsigned long long)our_count, low, high, count);
}

static void end_vector(struct vector *v)
{
    uint64_t low, high, count;
    if (is_our_layout(v))
        assert_false(histogram_next(v->h, &v->cursor, &low, &high, &count));
    if (histogram_count(v->h) > 0)
        assert_true(v->buckets > 0 && v->percentiles > 0);
    histogram_free(v->h);
    v->h = NULL;
}

static void check_line(struct vector *v, char *line)
{
    unsigned long long lowest;
    char *rest = strchr(line, ' ');
    line[strcspn(line, "\n")] = '\0';
    rest = rest ? rest + 1 : line;
    if (strncmp(line, "vector ", 7) == 0) {
        *v = (struct vector){.h = NULL};
        assert_int_equal(sscanf(rest, "%63s %u %llu", v->name, &v->digits, &lowest), 3);
        v->lowest = lowest;
    } else if (strncmp(line, "encoded ", 8) == 0) {
        check_encoded(v, rest);
    } else if (strncmp(line, "payload ", 8) == 0) {
        check_payload(v, rest);
    } else if (strncmp(line, "total ", 6) == 0) {
        check_total(v, rest);
    } else if (strncmp(line, "percentile ", 11) == 0) {
        check_percentile(v, rest);
    } else if (strncmp(line, "bucket ", 7) == 0) {
        check_bucket(v, rest);
    } else {
        assert_string_equal(line, "end");
        end_vector(v);
    }
}

static unsigned check_file(const char *path)
{
    static char line[LINE_LIMIT];
    struct vector v;
    unsigned vectors = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("no file %s", path);
    while (fgets(line, sizeof line, file)) {
        assert_non_null(strchr(line, '\n'));
        vectors += strncmp(line, "vector ", 7) == 0;
        check_line(&v, line);
    }
    fclose(file);
    return vectors;
}

static void what_java_writes_is_read_as_java_reads_it(void **state)
{
    (void)state;
    assert_true(check_file(REFERENCE_DIR "/hdr_vectors.txt") >= 20);
}

static void what_javascript_writes_is_read_as_it_reads_it(void **state)
{
    (void)state;
    assert_true(check_file(REFERENCE_DIR "/hdr_vectors_js.txt") >= 5);
}

static struct histogram *must_decode(const char *text)
{
    struct err e = ERR_INIT;
    struct histogram *h = histogram_decode(text, &e);
    if (!h)
        fail_msg("%s", e.text);
    return h;
}

static void encoding_and_decoding_keeps_every_count(void **state)
{
    struct rng rng;
    (void)state;
    rng_init(&rng, 1);
    for (int round = 0; round < 200; round++) {
        struct histogram *h = histogram_new();
        uint64_t n = rng_below(&rng, 100);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t value = rng_next(&rng) >> (1 + rng_below(&rng, 63));
            histogram_record_many(h, value, (rng_next(&rng) >> (8 + rng_below(&rng, 56))));
        }
        char *text = histogram_encode(h);
        struct histogram *back = must_decode(text);
        assert_true(histogram_equal(h, back));
        char *again = histogram_encode(back);
        assert_string_equal(text, again);
        if (histogram_count(h) > 0) {
            assert_true(histogram_min(back) <= histogram_min(h));
            assert_true(histogram_max(back) >= histogram_max(h));
            assert_true(histogram_set_extremes(back, histogram_min(h), histogram_max(h)));
            for (int i = 0; i <= 20; i++)
                assert_true(histogram_quantile(h, i / 20.0) ==
                            histogram_quantile(back, i / 20.0));
            double error = histogram_mean(back) - histogram_mean(h);
            assert_true(fabs(error) <= histogram_mean(h) / 1024);
        }
        free(text);
        free(again);
        histogram_free(h);
        histogram_free(back);
    }
}

static void the_range_is_the_smallest_that_holds_the_values(void **state)
{
    static const struct {
        uint64_t value, highest;
    } cases[] = {
        {0, 2047},
        {2047, 2047},
        {2048, 4095},
        {4095, 4095},
        {1000000, 1048575},
        {LARGEST, LARGEST},
        {(uint64_t)1 << 62, LARGEST},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct histogram *h = histogram_new();
        size_t length;
        uint64_t highest = 0;
        histogram_record(h, cases[i].value);
        unsigned char *plain = unwrap(h, &length);
        for (size_t j = 24; j < 32; j++)
            highest = highest << 8 | plain[j];
        assert_true(highest == cases[i].highest);
        free(plain);
        histogram_free(h);
    }
}

/* A plain V2 header and payload, wrapped and compressed by hand. */
struct plain {
    uint32_t cookie, payload_length, digits;
    uint64_t lowest, highest, ratio;
    const unsigned char *payload;
    size_t length;
};

static void put(unsigned char *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> 8 * (bytes - 1 - i));
}

static char *wrap_bytes_and(const unsigned char *plain, size_t length, size_t behind)
{
    uLongf size = compressBound((uLong)length);
    unsigned char *packed = calloc(1, size + 8 + behind);
    assert_non_null(packed);
    assert_int_equal(compress(packed + 8, &size, plain, (uLong)length), Z_OK);
    put(packed, 0x1c849314, 4);
    put(packed + 4, size + behind, 4);
    char *text = base64_encode(packed, size + 8 + behind);
    free(packed);
    return text;
}

static char *wrap_bytes(const unsigned char *plain, size_t length)
{
    return wrap_bytes_and(plain, length, 0);
}

static char *wrap(const struct plain *p)
{
    unsigned char *bytes = calloc(1, HEADER_BYTES + p->length);
    assert_non_null(bytes);
    put(bytes, p->cookie, 4);
    put(bytes + 4, p->payload_length, 4);
    put(bytes + 12, p->digits, 4);
    put(bytes + 16, p->lowest, 8);
    put(bytes + 24, p->highest, 8);
    put(bytes + 32, p->ratio, 8);
    memcpy(bytes + HEADER_BYTES, p->payload, p->length);
    char *text = wrap_bytes(bytes, HEADER_BYTES + p->length);
    free(bytes);
    return text;
}

static struct plain plain_of(const unsigned char *payload, size_t length)
{
    return (struct plain){0x1c849313, (uint32_t)length,   3,       1,
                          1 << 20,    0x3ff0000000000000, payload, length};
}

static void a_single_zero_may_be_a_run_of_one(void **state)
{
    static const unsigned char payload[] = {0x01, 0x02, 0x01, 0x00, 0x04}; /* -1 1 -1 0 2 */
    struct plain p = plain_of(payload, sizeof payload);
    char *text = wrap(&p);
    struct histogram *h = must_decode(text);
    (void)state;
    assert_true(histogram_count(h) == 3);
    assert_true(histogram_min(h) == 1 && histogram_max(h) == 4);
    free(text);
    histogram_free(h);
}

static void must_refuse(char *text, const char *why)
{
    struct err e = ERR_INIT;
    if (histogram_decode(text, &e) != NULL)
        fail_msg("decoded: %s", why);
    assert_int_equal(e.kind, ERR_USAGE);
    if (!strstr(e.text, why))
        fail_msg("'%s' does not say '%s'", e.text, why);
    assert_null(histogram_decode(text, NULL));
    free(text);
}

static void a_header_that_lies_is_refused(void **state)
{
    static const unsigned char one[] = {0x02};
    static const struct {
        struct plain p;
        const char *why;
    } cases[] = {
        {{0x1c849301, 1, 3, 1, 2047, 0x3ff0000000000000, one, 1}, "begins differently"},
        {{0x1c849313, 0, 3, 1, 2047, 0x3ff0000000000000, one, 1}, "another length"},
        {{0x1c849313, 2, 3, 1, 2047, 0x3ff0000000000000, one, 1}, "another length"},
        {{0x1c849313, 0x80000001, 3, 1, 2047, 0x3ff0000000000000, one, 1}, "another length"},
        {{0x1c849313, 1, 0, 1, 2047, 0x3ff0000000000000, one, 1}, "digits"},
        {{0x1c849313, 1, 6, 1, 2047, 0x3ff0000000000000, one, 1}, "digits"},
        {{0x1c849313, 1, 0xffffffff, 1, 2047, 0x3ff0000000000000, one, 1}, "digits"},
        {{0x1c849313, 1, 3, 0, 2047, 0x3ff0000000000000, one, 1}, "lowest"},
        {{0x1c849313, 1, 3, UINT64_MAX, 2047, 0x3ff0000000000000, one, 1}, "lowest"},
        {{0x1c849313, 1, 3, (uint64_t)1 << 52, 2047, 0x3ff0000000000000, one, 1}, "lowest"},
        {{0x1c849313, 1, 3, 1, 2047, 0x4000000000000000, one, 1}, "real numbers"},
        {{0x1c849313, 1, 3, 1, 2047, 0x7ff8000000000000, one, 1}, "real numbers"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        must_refuse(wrap(&cases[i].p), cases[i].why);
}

static void counts_that_lie_are_refused(void **state)
{
    static const struct {
        unsigned char payload[24];
        size_t length;
        const char *why;
    } cases[] = {
        {{0x80}, 1, "cut short"},
        {{0x02, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 8, "cut short"},
        /* runs of 2^63, of 2^63 - 1, and of one more than there are places */
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 9, "more counts"},
        {{0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 9, "more counts"},
        {{0x81, 0xe0, 0x06}, 3, "more counts"},
        {{0xff, 0xdf, 0x06, 0x02}, 4, "more counts"},
        /* 2^63 - 1 and one more */
        {{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, 10, "overflow"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct plain p = plain_of(cases[i].payload, cases[i].length);
        must_refuse(wrap(&p), cases[i].why);
    }
    /* the last place and the largest count are fine */
    static const unsigned char last[] = {0xfd, 0xdf, 0x06, 0xfe, 0xff, 0xff,
                                         0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct plain p = plain_of(last, sizeof last);
    char *text = wrap(&p);
    struct histogram *h = must_decode(text);
    assert_true(histogram_count(h) == LARGEST && histogram_max(h) == LARGEST);
    free(text);
    histogram_free(h);
}

static char *copy(const char *s)
{
    return mem_copy_string(s);
}

static void text_that_is_no_histogram_is_refused(void **state)
{
    (void)state;
    must_refuse(copy(""), "begins differently");
    must_refuse(copy("HISTFAAAA"), "base64");
    must_refuse(copy("not base64!"), "base64");
    must_refuse(copy("HISTFAAA"), "begins differently");
    must_refuse(copy("HISTFAAAAAA="), "damaged");
    must_refuse(copy("HISTFAAAABw="), "another length");
    must_refuse(copy("HISTEQAAAAA="), "begins differently"); /* 0x1c849311 */
    must_refuse(wrap_bytes((const unsigned char *)"", 0), "begins differently");
    must_refuse(wrap_bytes((const unsigned char *)"\x1c\x84\x93\x13", 4), "begins differently");
    must_refuse(wrap_bytes_and((const unsigned char *)"\x1c\x84\x93\x13", 4, 1), "damaged");
}

static void a_bomb_is_refused_and_costs_little(void **state)
{
    const size_t size = 100u << 20;
    unsigned char *zeros = calloc(1, size);
    (void)state;
    assert_non_null(zeros);
    must_refuse(wrap_bytes(zeros, size), "too large");
    free(zeros);
    char *text = malloc((7u << 20) + 1);
    assert_non_null(text);
    memset(text, 'A', 7u << 20);
    text[7u << 20] = '\0';
    must_refuse(text, "too large");
}

/* Whatever byte is changed, the answer is a refusal or a histogram, never harm. */
static void damaged_text_does_no_harm(void **state)
{
    struct histogram *h = histogram_new();
    struct rng rng;
    (void)state;
    rng_init(&rng, 3);
    for (int i = 0; i < 300; i++)
        histogram_record_many(h, rng_below(&rng, 10000000), 1 + rng_below(&rng, 1000));
    char *text = histogram_encode(h);
    size_t length = strlen(text);
    for (int i = 0; i < 3000; i++) {
        char *bad = copy(text);
        bad[rng_below(&rng, length)] = (char)('0' + rng_below(&rng, 75));
        if (rng_below(&rng, 4) == 0)
            bad[rng_below(&rng, length)] = '\0';
        histogram_free(histogram_decode(bad, NULL));
        free(bad);
    }
    size_t plain_length;
    unsigned char *plain = unwrap(h, &plain_length);
    for (int i = 0; i < 3000; i++) {
        size_t at = (size_t)rng_below(&rng, plain_length);
        unsigned char held = plain[at];
        plain[at] = (unsigned char)rng_next(&rng);
        char *bad = wrap_bytes(plain, plain_length);
        histogram_free(histogram_decode(bad, NULL));
        free(bad);
        plain[at] = held;
    }
    free(plain);
    free(text);
    histogram_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_java_writes_is_read_as_java_reads_it),
        cmocka_unit_test(what_javascript_writes_is_read_as_it_reads_it),
        cmocka_unit_test(encoding_and_decoding_keeps_every_count),
        cmocka_unit_test(the_range_is_the_smallest_that_holds_the_values),
        cmocka_unit_test(a_single_zero_may_be_a_run_of_one),
        cmocka_unit_test(a_header_that_lies_is_refused),
        cmocka_unit_test(counts_that_lie_are_refused),
        cmocka_unit_test(text_that_is_no_histogram_is_refused),
        cmocka_unit_test(a_bomb_is_refused_and_costs_little),
        cmocka_unit_test(damaged_text_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

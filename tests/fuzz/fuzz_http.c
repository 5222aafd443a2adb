/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a request and as a response: bounded, and judged the same in any pieces. */
#include <stdlib.h>
#include <string.h>
#include "fuzz_target.h"
#include "run/http.h"

static void require(int holds)
{
    if (!holds)
        abort();
}

struct outcome {
    enum http_step step;
    size_t used;
    unsigned status;
    uint64_t body_bytes;
    int is_close;
};

static struct outcome feed(const char *data, size_t size, size_t piece)
{
    struct http_response r;
    struct outcome out = {.step = HTTP_MORE};
    http_response_init(&r, false);
    while (out.used < size && out.step == HTTP_MORE) {
        const size_t left = size - out.used, n = left < piece ? left : piece;
        size_t used = 0;
        out.step = http_response_feed(&r, data + out.used, n, &used);
        require(used <= n && (out.step != HTTP_MORE || used == n));
        out.used += used;
    }
    if (out.step == HTTP_MORE)
        out.step = http_response_end(&r);
    out.status = r.status;
    out.body_bytes = r.body_bytes;
    out.is_close = r.is_close;
    require(r.body_bytes <= size);
    return out;
}

static void check_response(const char *data, size_t size)
{
    const struct outcome whole = feed(data, size, SIZE_MAX);
    static const size_t pieces[] = {1, 3, 17};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        const struct outcome again = feed(data, size, pieces[i]);
        require(again.step == whole.step && again.used == whole.used &&
                again.status == whole.status && again.body_bytes == whole.body_bytes &&
                again.is_close == whole.is_close);
    }
}

/* A head that is found stays the same whatever follows; one that is not found early is not
 * found differently later. */
static void check_request(const char *data, size_t size)
{
    struct http_request whole, part;
    const long used = http_request_parse(data, size, &whole);
    require(used >= -1 && used <= (long)size);
    require(strlen(whole.path) < sizeof whole.path);
    if (used == 0)
        return;
    if (used > 0) {
        require(http_request_parse(data, (size_t)used, &part) == used);
        require(strcmp(part.path, whole.path) == 0 && part.is_close == whole.is_close);
        require(http_request_parse(data, (size_t)used - 1, &part) == 0);
    } else {
        require(whole.refuse_status >= 400 && whole.is_close);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of exactly this size: a read beyond it is seen. */
    char *copy = malloc(size > 0 ? size : 1);
    require(copy != NULL);
    memcpy(copy, data, size);
    check_response(copy, size);
    check_request(copy, size);
    free(copy);
    return 0;
}

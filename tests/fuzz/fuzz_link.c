/* SPDX-License-Identifier: Apache-2.0 */
/* The first line as a link: refused with a reason, or written as what reads back the same.
 * The rest as packets that cross it: counted or passed over. */
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "fuzz_target.h"
#include "net/link_flow.h"
#include "net/link_spec.h"

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check_spec(const char *text)
{
    struct link_spec spec, again;
    struct err e = ERR_INIT;
    char first[LINK_SPEC_TEXT_MAX], second[LINK_SPEC_TEXT_MAX];
    if (link_spec_parse(text, &spec, &e) != 0) {
        require((e.kind == ERR_USAGE || e.kind == ERR_UNSUPPORTED) && e.text[0] != '\0');
        return;
    }
    for (unsigned i = 0; i < LINK_WAYS; i++) {
        require(spec.way[i].jitter_ns <= spec.way[i].delay_ns);
        require(spec.way[i].loss >= 0 && spec.way[i].loss < 1 && spec.way[i].queue_packets > 0);
    }
    require(link_spec_parse(link_spec_format(&spec, first, sizeof(first)), &again, &e) == 0);
    link_spec_format(&again, second, sizeof(second));
    require(strcmp(first, second) == 0);
}

/* Each is a byte of length, less than what is left, and that many bytes. */
static void cross(struct link_flows *flows, const uint8_t *data, size_t size)
{
    uint16_t mark = 0;
    uint64_t now_ns = 0;
    while (size > 1) {
        const size_t bytes = data[0] < size - 1 ? data[0] : size - 1;
        const enum link_way way = now_ns % 2 == 0 ? LINK_UP : LINK_DOWN;
        uint8_t *packet = malloc(bytes + 1); /* so that a sanitizer sees what is read */
        memcpy(packet, data + 1, bytes);
        mark = link_flow_sent(flows, way, packet, bytes, now_ns, false);
        link_flow_arrived(flows, way, packet, bytes, mark);
        free(packet);
        data += bytes + 1;
        size -= bytes + 1;
        now_ns += 1000001;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text line = {0};
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    const size_t length = end != NULL ? (size_t)(end - data) : size;
    text_add_bytes(&line, data, length);
    check_spec(text_str(&line));
    text_free(&line);
    if (end == NULL)
        return 0;
    struct link_flows *flows = mem_alloc_zeroed(1, sizeof(*flows));
    link_flows_init(flows, 1000000);
    cross(flows, end + 1, size - length - 1);
    free(flows);
    return 0;
}

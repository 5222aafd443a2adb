/* SPDX-License-Identifier: Apache-2.0 */
/* Any text: refused with a reason, or a list that keeps what its header promises. */
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "fuzz_target.h"
#include "tls/groups.h"

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check_list(const struct tls_group_list *list)
{
    size_t known = 0, shares = 0;
    unsigned tuple = 0;
    require(list->count <= TLS_GROUPS_MAX && list->shares <= TLS_GROUPS_SHARES_MAX);
    for (size_t i = 0; i < list->count; i++) {
        const struct tls_group_entry *entry = &list->entry[i];
        require(entry->group != NULL || entry->is_optional);
        require(entry->tuple >= tuple && entry->tuple <= tuple + 1);
        tuple = entry->tuple;
        known += entry->group != NULL;
        shares += entry->group != NULL && entry->has_share;
        for (size_t k = 0; k < i; k++)
            require(entry->group == NULL || list->entry[k].group != entry->group);
    }
    require(known > 0 || list->is_default);
    require(shares == list->shares);
    require(list->is_default || shares >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = ERR_INIT;
    struct text input = {0};
    struct tls_group_list list;
    text_add_bytes(&input, data, size);
    if (tls_groups_parse(text_str(&input), &list, &e) == 0)
        check_list(&list);
    else
        require(e.kind == ERR_USAGE && e.text[0] != '\0');
    text_free(&input);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The DNS record that a probed server should publish (key share prediction). */
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "report/probed.h"

#define HTTPS_PORT 443ul
#define TTL_S 3600u

/* What the record is published for: groups that are no draft's, in the server's order. */
static size_t count_groups(const struct probed_groups *groups)
{
    size_t count = 0;
    for (size_t i = 0; i < groups->count; i++)
        count += !groups->group[i].is_obsolete;
    return count;
}

/* Of "192.0.2.1:443" or "[::1]:443". */
static unsigned long port_of(const char *address)
{
    const char *colon = strrchr(address, ':');
    return colon != NULL ? strtoul(colon + 1, NULL, 10) : 0;
}

/* RFC 9460: the name alone for HTTPS at its own port, else "_PORT._SCHEME.NAME"; "@" is the
 * zone's own name. */
static void add_owner(struct text *out, const struct probed *p)
{
    const bool is_https = p->starttls[0] == '\0';
    const unsigned long port = port_of(p->address);
    const bool is_plain = is_https && port == HTTPS_PORT;
    if (!is_plain)
        text_addf(out, "_%lu._%s", port, is_https ? "https" : p->starttls);
    if (p->server_name[0] != '\0') {
        text_add(out, is_plain ? "" : ".");
        text_add_harmless(out, p->server_name);
        text_add(out, ".");
    } else if (is_plain) {
        text_add(out, "@");
    }
    text_addf(out, " %u IN %s 1 . ", TTL_S, is_https ? "HTTPS" : "SVCB");
}

static void add_named(struct text *out, const struct probed_groups *groups)
{
    const char *before = "tls-supported-groups=";
    for (size_t i = 0; i < groups->count; i++) {
        if (groups->group[i].is_obsolete)
            continue;
        text_addf(out, "%s%u", before, groups->group[i].code);
        before = ",";
    }
    text_add(out, "\n");
}

/* Every octet escaped: right in every zone file. */
static void add_generic(struct text *out, const struct probed_groups *groups)
{
    text_add(out, "key9=\"");
    for (size_t i = 0; i < groups->count; i++)
        if (!groups->group[i].is_obsolete)
            text_addf(out, "\\%03u\\%03u", groups->group[i].code >> 8 & 0xffu,
                      groups->group[i].code & 0xffu);
    text_add(out, "\"\n");
}

static const char *doubt(const struct probed_groups *groups)
{
    if (!groups->is_complete)
        return "not every group could be asked for: the list may be too short";
    if (groups->order == PROBED_ORDER_CLIENT)
        return "the server has no order of its own: it takes what the client names first";
    if (groups->order == PROBED_ORDER_UNKNOWN && groups->count > 1)
        return "the server's order of preference could not be told";
    return NULL;
}

bool probed_add_record(const struct probed *p, struct text *out)
{
    text_add(out, "; ");
    text_add_harmless(out, p->target);
    if (count_groups(&p->groups) == 0) {
        text_add(out, ": no record, no group of TLS 1.3 was accepted\n");
        return false;
    }
    text_add(out, ": one of the two lines, or its last word in the record that is there\n");
    if (doubt(&p->groups) != NULL)
        text_addf(out, "; %s\n", doubt(&p->groups));
    add_owner(out, p);
    add_named(out, &p->groups);
    add_owner(out, p);
    add_generic(out, &p->groups);
    return true;
}

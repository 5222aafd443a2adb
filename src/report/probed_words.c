/* SPDX-License-Identifier: Apache-2.0 */
#include "report/probed.h"
#include <string.h>

void probed_add_failure(const struct probed_failure *failure, struct text *out)
{
    text_add_harmless(out, failure->text[0] != '\0' ? failure->text : failure->cause);
}

/* The first accepted group that is more than classical, and no obsolete draft; or NULL. */
static const struct probed_group *best(const struct probed *p)
{
    for (size_t i = 0; i < p->groups.count; i++)
        if (p->groups.group[i].is_post_quantum && !p->groups.group[i].is_obsolete)
            return &p->groups.group[i];
    return NULL;
}

static void add_no(const struct probed *p, struct text *out)
{
    const struct probed_group *other = best(p);
    text_add(out, "post-quantum: no");
    if (p->browser.is_complete && p->browser.group[0] != '\0')
        text_addf(out, ", a browser gets %s", p->browser.group);
    if (probed_accepts_browsers_hybrid(p))
        text_add(out, " although X25519MLKEM768 is accepted");
    else if (other != NULL)
        text_addf(out, "; %s is accepted, which browsers do not offer", other->name);
    if (p->browser.is_complete && strcmp(p->browser.tls, "1.2") == 0)
        text_add(out, " (TLS 1.2)");
}

static void add_refused(const struct probed *p, struct text *out)
{
    const struct probed_group *other = best(p);
    text_add(out, "post-quantum: no, a browser cannot connect: ");
    probed_add_failure(&p->browser.failure, out);
    if (other != NULL)
        text_addf(out, "; %s is accepted", other->name);
}

void probed_add_verdict(const struct probed *p, struct text *out)
{
    switch (probed_judge(p)) {
    case PROBED_UNMEASURED:
        text_add(out, "not measured: ");
        probed_add_failure(&p->failure, out);
        break;
    case PROBED_POST_QUANTUM:
        text_addf(out, "post-quantum: yes, %s, %s", p->browser.group,
                  p->browser.is_hrr ? "one extra round trip (HelloRetryRequest)"
                                    : "no extra round trip");
        break;
    case PROBED_NOT_CHOSEN:
    case PROBED_CLASSICAL:
        add_no(p, out);
        break;
    case PROBED_REFUSED:
        add_refused(p, out);
        break;
    }
}

void probed_add_groups(const struct probed_groups *groups, struct text *out)
{
    for (size_t i = 0; i < groups->count; i++) {
        const struct probed_group *group = &groups->group[i];
        const bool is_ordered = groups->order == PROBED_ORDER_SERVER;
        const char *joint = !is_ordered                        ? ", "
                            : group->takes_share == PROBED_YES ? ":"
                            : group->takes_share == PROBED_NO  ? "/"
                                                               : ", ";
        text_addf(out, "%s%s", i == 0 ? "" : joint, group->name);
    }
}

/* ---- what to change ---- */

static void advise_version(const struct probed *p, struct text *out)
{
    if (p->tls13 == PROBED_NO)
        text_add(out, "Turn on TLS 1.3: hybrid groups exist in it alone.");
}

static void advise_group(const struct probed *p, struct text *out)
{
    const enum probed_verdict verdict = probed_judge(p);
    if (verdict == PROBED_NOT_CHOSEN)
        text_add(out, "Put X25519MLKEM768 first in the server's list of groups (nginx "
                      "ssl_ecdh_curve, HAProxy curves, OpenSSL Groups), and let the server's "
                      "order count.");
    else if ((verdict == PROBED_CLASSICAL || verdict == PROBED_REFUSED) &&
             !probed_accepts_browsers_hybrid(p))
        text_add(out, "Add X25519MLKEM768 to the server's list of groups (nginx "
                      "ssl_ecdh_curve, HAProxy curves, OpenSSL Groups); the library must have "
                      "it: OpenSSL 3.5, AWS-LC, BoringSSL, Go 1.24 or newer.");
}

static void advise_classical(const struct probed *p, struct text *out)
{
    if (p->classical_only.is_tried && !p->classical_only.is_complete && p->groups.count > 0)
        text_add(out, "Accept X25519 as well while there are clients without a hybrid group: "
                      "they cannot connect.");
}

static void advise_retry(const struct probed *p, struct text *out)
{
    if (p->browser.is_complete && p->browser.is_hrr)
        text_add(out, "The server asks for another share than the two that browsers send: "
                      "each new connection takes one round trip more. Put X25519MLKEM768 "
                      "first.");
}

static void advise_window(const struct probed *p, struct text *out)
{
    if (p->browser.is_complete && p->browser.server_flight_bytes > RESULT_WINDOW_BYTES)
        text_addf(out,
                  "The server's flight of %llu bytes does not fit into ten segments "
                  "(%u bytes): a new connection waits one round trip more. Send a shorter "
                  "chain or smaller certificates.",
                  (unsigned long long)p->browser.server_flight_bytes, RESULT_WINDOW_BYTES);
}

static void advise_obsolete(const struct probed *p, struct text *out)
{
    for (size_t i = 0; i < p->groups.count; i++)
        if (p->groups.group[i].is_obsolete) {
            text_addf(out, "%s is a draft's group that clients no longer offer: it can go.",
                      p->groups.group[i].name);
            return;
        }
}

bool probed_add_advice(const struct probed *p, size_t i, struct text *out)
{
    static void (*const all[])(const struct probed *, struct text *) = {
        advise_version, advise_group,     advise_retry,
        advise_window,  advise_classical, advise_obsolete,
    };
    if (probed_judge(p) == PROBED_UNMEASURED)
        return false;
    for (size_t at = 0, found = 0; at < sizeof all / sizeof all[0]; at++) {
        struct text one = {0};
        all[at](p, &one);
        const bool is_it = one.length > 0 && found++ == i;
        if (is_it)
            text_add(out, text_str(&one));
        text_free(&one);
        if (is_it)
            return true;
    }
    return false;
}

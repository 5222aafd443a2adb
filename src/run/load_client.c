/* SPDX-License-Identifier: Apache-2.0 */
#include "run/load_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "run/load_parts.h"

#define NAME_BYTES 64u
#define QUIET_NS 150000000u
#define QUIET_PER_S 200.0 /* in all: each handshake alone */
#define QUIET_TURNS 4u

/* Cheapest first, by client CPU per handshake as bench/peers measures it; OpenSSL, the default,
 * is dearer than any of them. */
static const char *const cheaper[] = {"aws-lc"};

/* ---- the choice ---- */

static bool names_client(const struct arm_list *arms)
{
    for (size_t i = 0; i < arms->count; i++)
        if (arms->arm[i].backend[0] != '\0')
            return true;
    return false;
}

/* All arms with this library at the client, if it can do them all. */
static bool try_client(const struct tls_backend *client, const char *server_name,
                       const struct tls_backends *backends, struct arm_list *arms)
{
    char name[NAME_BYTES];
    tls_backend_full_name(client, name, sizeof name);
    for (size_t i = 0; i < arms->count; i++) {
        struct arm *arm = &arms->arm[i];
        struct arm_plan plan;
        snprintf(arm->backend, sizeof arm->backend, "%s", name);
        if (arm->server_backend[0] == '\0')
            snprintf(arm->server_backend, sizeof arm->server_backend, "%s", server_name);
        if (arm_plan(arm, backends, &plan, NULL) != 0)
            return false;
    }
    return true;
}

void load_choose_client(struct arm_list *arms, bool is_embedded,
                        const struct tls_backends *backends)
{
    const struct tls_backend *usual = tls_backends_find(backends, NULL, NULL);
    if (usual == NULL || names_client(arms))
        return;
    char server_name[NAME_BYTES] = "";
    if (is_embedded)
        tls_backend_full_name(usual, server_name, sizeof server_name);
    struct arm_list *tried = mem_alloc_zeroed(1, sizeof *tried);
    for (size_t i = 0; i < sizeof cheaper / sizeof cheaper[0]; i++) {
        const struct tls_backend *client = tls_backends_find(backends, cheaper[i], NULL);
        *tried = *arms;
        if (client == NULL || client == usual ||
            !try_client(client, server_name, backends, tried))
            continue;
        *arms = *tried;
        break;
    }
    free(tried);
}

/* ---- what it does to the times ---- */

/* Swaps the first arm of every worker. */
static void swap_arms(struct load *l, struct conn_arm *other)
{
    for (size_t i = 0; i < l->workers; i++) {
        const struct conn_arm own = l->worker[i].arm[0];
        l->worker[i].arm[0] = other[i];
        other[i] = own;
    }
}

/* Full handshakes, one at a time, are added to `all` (ns). */
static int time_alone(struct load *l, struct histogram *all, struct err *e)
{
    struct schedule schedule;
    struct load_window window;
    if (schedule_init(&schedule, QUIET_PER_S, SCHEDULE_CONSTANT, 0, QUIET_NS, e) != 0)
        return -1;
    const struct worker_plan plan = {.schedule = &schedule,
                                     .grace_ns = QUIET_NS,
                                     .timeout_ns = l->options->timeout_ns,
                                     .max_in_flight = 1,
                                     .arm = 0,
                                     .arms = (unsigned)l->options->arms->count};
    const int end = load_run_once(l, &plan, "calibration", &window, e);
    load_window_fini(l, &window);
    for (size_t i = 0; i < l->workers; i++) {
        const struct shard *shard = &l->worker[i].arm[0].shard;
        if (shard->latency_ns[RESULT_HANDSHAKE_FULL][RESULT_PHASE_TLS] != NULL)
            histogram_merge(all, shard->latency_ns[RESULT_HANDSHAKE_FULL][RESULT_PHASE_TLS]);
    }
    return end;
}

/* By turns, so that a machine that changes speed does so for both. */
static int time_both(struct load *l, struct conn_arm *other, struct histogram *own,
                     struct histogram *usual, struct err *e)
{
    int end = 0;
    for (unsigned turn = 0; turn < QUIET_TURNS && end == 0; turn++) {
        end = time_alone(l, own, e);
        if (end != 0)
            break;
        swap_arms(l, other);
        end = time_alone(l, usual, e);
        swap_arms(l, other);
    }
    return end;
}

static void note(struct load *l, const struct tls_backend *usual_client,
                 const struct histogram *own, const struct histogram *usual)
{
    char message[240], name[NAME_BYTES], usual_name[NAME_BYTES];
    if (histogram_count(own) == 0 || histogram_count(usual) == 0)
        return;
    const double own_us = (double)histogram_quantile(own, 0.5) / 1e3;
    const double usual_us = (double)histogram_quantile(usual, 0.5) / 1e3;
    snprintf(message, sizeof message,
             "%s makes the client's side of the handshakes: one at a time, tls p50 is %.0f us; "
             "with %s it is %.0f us",
             tls_backend_full_name(l->plan[0].client, name, sizeof name), own_us,
             tls_backend_full_name(usual_client, usual_name, sizeof usual_name), usual_us);
    result_add_problem(l->result, RESULT_NOTE, "client-library", l->options->arms->arm[0].name,
                       0, message);
}

/* The first arm with this library at the client, for every worker. */
static int make_others(struct load *l, const struct arm_plan *plan, struct conn_arm *others,
                       struct err *e)
{
    for (size_t i = 0; i < l->workers; i++)
        if (load_make_arm(l, 0, plan, &others[i], e) != 0)
            return -1;
    return 0;
}

static void free_others(struct load *l, struct conn_arm *others)
{
    for (size_t i = 0; i < l->workers; i++)
        if (others[i].backend != NULL)
            conn_arm_fini(&others[i]);
    free(others);
}

int load_compare_clients(struct load *l, struct err *e)
{
    const struct tls_backend *usual = tls_backends_find(l->options->backends, NULL, NULL);
    struct arm arm = l->options->arms->arm[0];
    struct arm_plan plan;
    if (usual == NULL || usual == l->plan[0].client ||
        strcmp(l->plan[0].client->name, "null") == 0)
        return 0;
    tls_backend_full_name(usual, arm.backend, sizeof arm.backend);
    if (arm_plan(&arm, l->options->backends, &plan, NULL) != 0)
        return 0;
    struct conn_arm *others = load_new_arms(l->workers);
    if (others == NULL)
        return err_set_errno(e, "calibration");
    struct histogram *own_ns = histogram_new(), *usual_ns = histogram_new();
    int end = make_others(l, &plan, others, e);
    if (end == 0)
        end = time_both(l, others, own_ns, usual_ns, e);
    if (end == 0)
        note(l, usual, own_ns, usual_ns);
    histogram_free(own_ns);
    histogram_free(usual_ns);
    free_others(l, others);
    return end;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - what a migration costs a fleet: cores, egress, price and time to handshake, before
 * and after, from a result and a traffic profile.
 *
 * Layer: report.  Sees only a const result; no clock, no environment.
 * Units: in each name; shares 0..1; GB are 10^9 bytes; a month has PLAN_MONTH_H hours.
 * Method: docs/PLAN.md.  "Before" is what the result says of one arm.  The change is what it
 *   says of the difference between two (the paired one where it has it), for the share of the
 *   connections that it touches; "after" is their sum.  The ends of intervals add up: right or
 *   too wide, however the errors hang together.  Bytes are counted and have none.
 * Shape: struct plan owns its texts and lists; result and options outlive it.  A figure that
 *   does not exist is NAN.
 * JSON: "schema": "pqc-bench-plan/1".  CSV: one figure a row, RFC 4180.
 * Threads: any.
 */
#ifndef REPORT_PLAN_H
#define REPORT_PLAN_H

#include "report/format.h"
#include "result/link_model.h"

#define PLAN_MONTH_H 730.0 /* 8760 hours a year / 12 */
#define PLAN_MTU_BYTES 1500u
#define PLAN_RTTS_MAX 64u
#define PLAN_CURRENCY_MAX 8u

/* Clients that are this far away. */
struct plan_distance {
    double rtt_ms, share;
    double rate_bits_per_s; /* of both ways; 0: no limit */
};

struct plan_options {
    const char *before, *after; /* arms; NULL: the first, the first of another group */
    const char *resumed_before, *resumed_after, *retry; /* NULL: looked for */
    double peak_per_s;
    double mean_share;                /* mean rate / peak */
    double resumed;                   /* of all connections */
    double hybrid_clients;            /* that take the arm `after` */
    double hrr;                       /* of these clients' connections */
    double utilisation;               /* of the cores, at peak */
    double other_cpu_us;              /* a connection, before and after */
    double response_bytes;            /* of TLS a connection, before and after */
    double price_core_hour, price_gb; /* NAN: not given */
    char currency[PLAN_CURRENCY_MAX]; /* "": none */
    size_t distances;                 /* 0: no time to handshake */
    const struct plan_distance *distance;
};

struct plan_change {
    struct figure before, after, change;
};

/* What one handshake costs, and how that is known. */
enum plan_sort { PLAN_FULL, PLAN_RESUMED, PLAN_RETRY }; /* retry: full, with the HRR */
#define PLAN_SORTS 3u
const char *plan_sort_name(enum plan_sort sort); /* "full", "resumed", "hrr" */
enum plan_when { PLAN_BEFORE, PLAN_AFTER };
#define PLAN_WHENS 2u
struct plan_cost {
    const struct result_arm *arm;       /* measured by it; NULL: derived from the full one */
    struct figure cpu_us[RESULT_SIDES]; /* client's absent of kind load */
    double bytes[RESULT_SIDES];         /* of TLS, tickets included */
    double wire_bytes[RESULT_SIDES];    /* with heads */
    struct link_model_flights flights;  /* count 0: no model */
    struct figure more_cpu_us[RESULT_SIDES]; /* [AFTER]: than before; retry: than full */
};

struct plan_time {
    struct plan_change ms;
    double retry_ms; /* of those who meet a HelloRetryRequest; NAN: none do */
};

struct plan_assumption {
    const char *name;
    char *text;
};
#define PLAN_ASSUMPTIONS_MAX 20u

struct plan {
    const struct result *result;
    const struct plan_options *options;
    struct plan_cost cost[PLAN_WHENS][PLAN_SORTS]; /* [BEFORE][RETRY] is not there */
    double month_connections;
    struct plan_change cpu_us;                           /* of the server, a connection */
    struct plan_change cores, egress_gb, ingress_gb;     /* gb: a month */
    struct plan_change price_cores, price_egress, price; /* a month; absent without a price */
    struct plan_time *time;                              /* one a distance, in its order */
    struct plan_time mean;                               /* over the clients; absent without */
    size_t assumptions;
    struct plan_assumption assumption[PLAN_ASSUMPTIONS_MAX];
};

/* -1: ERR_USAGE names the option and the arms that there are, where an arm is missing or of
 * the wrong sort; ERR_FAILED where the result has no CPU of the server.  *out is then empty. */
int plan_make(const struct result *r, const struct plan_options *options, struct plan *out,
              struct err *e) __attribute__((warn_unused_result));
void plan_free(struct plan *p);

void plan_add_text(const struct plan *p, struct text *out,
                   const struct report_options *options);
void plan_add_markdown(const struct plan *p, struct text *out,
                       const struct report_options *options);
void plan_add_json(const struct plan *p, struct text *out);
void plan_add_csv(const struct plan *p, struct text *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentences.h - the answer in words.
 *
 * Layer: report.
 * Shape: appends plain sentences without newline; names in them are harmless.  A function
 *   that returns false had nothing to say and appended nothing.
 * Threads: any.
 */
#ifndef REPORT_SENTENCES_H
#define REPORT_SENTENCES_H

#include "base/text.h"
#include "result/result.h"

/* "pq (X25519MLKEM768)"; the group left out where it says nothing new. */
void sentences_add_arm(struct text *out, const struct result_arm *arm);
/* What the run was: kind, arms' trials, sizes. */
void sentences_add_title(struct text *out, const struct result *r);
/* What the arm costs against its baseline, CPU and bytes. */
bool sentences_add_cost(struct text *out, const struct result *r, const struct result_arm *arm);
/* "; +1176 bytes from the client, +1088 from the server"; nothing where none were counted. */
void sentences_add_byte_cost(struct text *out, const struct result_arm *arm,
                             const struct result_arm *baseline);
/* The same in one sentence without intervals, for the head of a page. */
bool sentences_add_answer(struct text *out, const struct result *r,
                          const struct result_arm *arm);
/* "Valid: ..." or "Not valid: ...". */
void sentences_add_validity(struct text *out, const struct result *r);
/* Groups, HelloRetryRequests, resumption, where they are not one group and no more. */
bool sentences_add_negotiated(struct text *out, const struct result_arm *arm);
/* "NAME: a key share was predicted, ..."; false without a prediction. */
bool sentences_add_prediction(struct text *out, const struct result_arm *arm);
bool sentences_add_noise_floor(struct text *out, const struct result *r);
bool sentences_add_primitives(struct text *out, const struct result *r);
bool sentences_add_accounts(struct text *out, const struct result *r);
/* Where the figures come from and what they leave out. */
void sentences_add_source(struct text *out, const struct result *r);
void sentences_add_host(struct text *out, const struct result_host *host);
/* A server that others wrote and the run started; false without one. */
bool sentences_add_server(struct text *out, const struct result *r);
bool sentences_add_libraries(struct text *out, const struct result *r);
void sentences_add_run(struct text *out, const struct result *r); /* seed, time, version */
bool sentences_add_interrupted(struct text *out, const struct result *r);
void sentences_add_problem(struct text *out, const struct result_problem *p);
/* Kind load. */
bool sentences_add_slow_causes(struct text *out, const struct result_arm *arm);
bool sentences_add_verdict(struct text *out, const struct result *r,
                           const struct result_arm *arm);
/* Kind capacity: "classical (X25519) holds 1240/s [1225, 1256]; ..."; false where nothing was
 * found out.  What the arm costs of its baseline's capacity; false without a baseline.  The
 * objectives: "tls.p99 <= 10 ms, failures <= 0.1 %". */
bool sentences_add_capacity(struct text *out, const struct result *r, size_t arm);
bool sentences_add_capacity_cost(struct text *out, const struct result *r,
                                 const struct result_arm *arm);
void sentences_add_objectives(struct text *out, const struct result *r);
/* What "*" and "censored" mean, where they stand; out must be empty. */
bool sentences_add_marks(struct text *out, const struct result *r);

#endif

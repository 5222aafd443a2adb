/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conformance.h - the parts of the conformance test; each runs its cmocka group over `lab`
 * and returns the number of tests that failed.
 */
#ifndef TESTS_BACKEND_CONFORMANCE_H
#define TESTS_BACKEND_CONFORMANCE_H

int conform_handshake(void);
int conform_groups(void);
int conform_certificate(void);
int conform_resumption(void);
int conform_early_data(void);
int conform_failure(void);
int conform_sizes(void);
int conform_stream(void);
int conform_primitive(void);

#endif

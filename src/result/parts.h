/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - beginning and end of what a result is made of.
 *
 * Layer: result, private to it.
 */
#ifndef RESULT_PARTS_H
#define RESULT_PARTS_H

#include "result/result.h"

void result_arm_init(struct result_arm *arm, const char *name); /* every figure absent */
void result_arm_fini(struct result_arm *arm);

#endif

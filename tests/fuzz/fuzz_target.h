/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_target.h - what a fuzz target is: one function over any bytes.
 *
 * Layer: tests.
 * Shape: fuzz_<name>.c defines LLVMFuzzerTestOneInput and aborts where a property does not
 *   hold; the input is not NUL-terminated.  Linked with libFuzzer it searches; linked with
 *   replay_main.c it runs the files of tests/fuzz/corpus/<name>/.
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h - what the user's terminal can show.
 *
 * Layer: cli.
 * Threads: any.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>

/* Opens /dev/null for whichever of descriptors 0 to 2 is closed, so that no file of ours
 * becomes standard output. */
void terminal_guard_descriptors(void);

bool terminal_is(int fd);
unsigned terminal_columns(int fd); /* 80 where unknown, 40 at least */

/* The locale of the environment uses UTF-8 (the process itself stays in the C locale). */
bool terminal_has_utf8(void);

/* Colours on fd: a terminal, not TERM=dumb, and NO_COLOR not set. */
bool terminal_has_colours(int fd);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - the user wants to end: SIGINT, SIGTERM and SIGHUP set a flag.
 *
 * Layer: cli.  The flag is the program's one mutable global.
 * Shape: the first signal is noted, and what runs ends with what it has.  The second ends
 *   the process at once.  A signal that was ignored when the program began (nohup) stays
 *   ignored.  SIGPIPE is ignored: a closed pipe is a failed write.
 */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <signal.h>

void stop_install(void);

/* Number of the signal that came, 0 none yet; valid for ever. */
const volatile sig_atomic_t *stop_flag(void);

/* "SIGINT" and its like; "signal N" for others, into buf. */
const char *stop_signal_name(int number, char *buf, unsigned size);

/* End the process as the signal would have: for after everything has been written. */
void stop_end_by_signal(int number);

#endif

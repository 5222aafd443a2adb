/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocale.h - the C locale for the calling thread, for as long as a number is read or
 * written.
 *
 * Layer: base, used by base alone.
 * Cost: no allocation in glibc and musl, whose C locale is a constant.
 * Threads: changes the calling thread only; enter and leave pair up, nesting is fine.
 */
#ifndef BASE_CLOCALE_H
#define BASE_CLOCALE_H

#include <locale.h>

struct clocale {
    locale_t c;        /* (locale_t)0 where there was no memory: nothing changed then */
    locale_t previous; /* what leave puts back */
};

void clocale_enter(struct clocale *state);
void clocale_leave(struct clocale *state);

#endif

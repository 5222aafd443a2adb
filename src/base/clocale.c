/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clocale.h"

void clocale_enter(struct clocale *state)
{
    state->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    state->previous = (locale_t)0;
    if (state->c != (locale_t)0)
        state->previous = uselocale(state->c);
}

void clocale_leave(struct clocale *state)
{
    if (state->c == (locale_t)0)
        return;
    uselocale(state->previous);
    freelocale(state->c);
    state->c = (locale_t)0;
}

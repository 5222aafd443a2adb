/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comma_locale.h - a locale whose decimal separator is a comma; the build makes one (LOCPATH)
 * where the system has its sources.
 *
 * Threads: one; the locale is the process's.
 */
#ifndef TESTS_COMMA_LOCALE_H
#define TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

/* Is it taken into use?  Undone by setlocale(LC_ALL, "C"). */
static inline bool comma_locale_use(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "fr_FR.UTF-8",
                                        "ru_RU.UTF-8", "es_ES.UTF-8", "pt_BR.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) != NULL)
            return true;
    return false;
}

#endif

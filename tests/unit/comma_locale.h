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

/* glibc 2.36 loses the list that each such call makes of LOCPATH: a leak that is not ours. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define LOCALE_CALL(call) (__lsan_disable(), (call), __lsan_enable())
#endif
#endif
#ifndef LOCALE_CALL
#define LOCALE_CALL(call) (call)
#endif

/* Is it taken into use?  Undone by setlocale(LC_ALL, "C"). */
static inline bool comma_locale_use(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "fr_FR.UTF-8",
                                        "ru_RU.UTF-8", "es_ES.UTF-8", "pt_BR.UTF-8"};
    const char *used = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !used; i++)
        LOCALE_CALL(used = setlocale(LC_ALL, names[i]));
    return used != NULL;
}

#endif

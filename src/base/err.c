/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/clocale.h"
#include "base/err.h"

#define TEXT_SIZE sizeof(((struct err *)0)->text)

/* A cut may have split a UTF-8 sequence: drop the part that is left of it. */
static void drop_split_character(char *text)
{
    size_t length = strlen(text);
    size_t tail = 0;
    while (tail < 3 && tail < length && ((unsigned char)text[length - 1 - tail] & 0xc0) == 0x80)
        tail++;
    if (tail == length)
        return;
    unsigned char lead = (unsigned char)text[length - 1 - tail];
    size_t expected = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    if (tail < expected)
        text[length - 1 - tail] = '\0';
}

__attribute__((format(printf, 2, 0))) static void format_text(char *out, const char *format,
                                                              va_list args)
{
    struct clocale locale;
    clocale_enter(&locale);
    int wanted = vsnprintf(out, TEXT_SIZE, format, args);
    clocale_leave(&locale);
    if (wanted < 0)
        out[0] = '\0';
    else if ((size_t)wanted >= TEXT_SIZE)
        drop_split_character(out);
}

/* first, ": ", second into e->text; neither may lie in e. */
static void join(struct err *e, const char *first, const char *second)
{
    int wanted = snprintf(e->text, TEXT_SIZE, "%s%s%s", first, second[0] ? ": " : "", second);
    if (wanted >= 0 && (size_t)wanted >= TEXT_SIZE)
        drop_split_character(e->text);
}

int err_set(struct err *e, enum err_kind kind, const char *format, ...)
{
    if (!e)
        return -1;
    char text[TEXT_SIZE]; /* the arguments may point into e->text */
    va_list args;
    va_start(args, format);
    format_text(text, format, args);
    va_end(args);
    e->kind = kind;
    memcpy(e->text, text, TEXT_SIZE);
    return -1;
}

int err_set_errno(struct err *e, const char *format, ...)
{
    int number = errno;
    if (!e)
        return -1;
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    format_text(text, format, args);
    va_end(args);
    struct clocale locale;
    clocale_enter(&locale);
    join(e, text,
         locale.c != (locale_t)0 ? strerror_l(number, locale.c)
                                 : "not enough memory to say why");
    clocale_leave(&locale);
    e->kind = ERR_SYSTEM;
    errno = number;
    return -1;
}

int err_add_context(struct err *e, const char *format, ...)
{
    if (!e)
        return -1;
    char context[TEXT_SIZE];
    char before[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    format_text(context, format, args);
    va_end(args);
    memcpy(before, e->text, TEXT_SIZE);
    join(e, context, before);
    if (e->kind == ERR_NONE)
        e->kind = ERR_FAILED;
    return -1;
}

int err_exit_status(const struct err *e)
{
    switch (e->kind) {
    case ERR_NONE:
        return 0;
    case ERR_USAGE:
    case ERR_UNSUPPORTED:
        return 2;
    case ERR_SYSTEM:
    case ERR_FAILED:
        return 1;
    case ERR_UNMET:
        return 3;
    }
    return 1;
}

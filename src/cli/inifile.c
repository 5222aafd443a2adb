/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"
#include "cli/inifile.h"

/* The text on its way into inih, line by line.  A line is looked at here before inih sees
 * it, so that inih's build options have nothing left to decide. */
struct feed {
    const char *at, *end;
    unsigned line; /* of the line inih is working on */
    struct inifile *document;
    struct err *e;
    bool is_failed;
};

static int refuse(struct feed *f, const char *what)
{
    f->is_failed = true;
    return err_set(f->e, ERR_USAGE, "%s:%u: %s", f->document->name, f->line, what);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_text(const char *s)
{
    struct text harmless = {0};
    text_add_harmless(&harmless, s);
    bool is_same = strcmp(text_str(&harmless), s) == 0;
    text_free(&harmless);
    return is_same;
}

static char *copy_trimmed(const char *s, size_t length)
{
    while (length > 0 && is_blank(*s))
        s++, length--;
    while (length > 0 && is_blank(s[length - 1]))
        length--;
    struct text out = {0};
    text_add_bytes(&out, s, length);
    return text_take(&out);
}

/* Runs of blanks become one space. */
static void squeeze_blanks(char *s)
{
    char *to = s;
    for (; *s; s++)
        if (!is_blank(*s))
            *to++ = *s;
        else if (to[-1] != ' ')
            *to++ = ' ';
    *to = '\0';
}

static int add_section(struct feed *f, const char *line, size_t length)
{
    struct inifile *d = f->document;
    if (length < 3 || line[length - 1] != ']' || memchr(line, ']', length - 1) ||
        memchr(line + 1, '[', length - 1) || memchr(line, ';', length))
        return refuse(f, "a section is written [NAME], alone on its line");
    char *name = copy_trimmed(line + 1, length - 2);
    squeeze_blanks(name);
    int failed = 0;
    for (size_t i = 0; i < d->sections && !failed; i++)
        if (strcmp(d->section[i].name, name) == 0)
            failed = refuse(f, "this section was given before");
    if (!failed && !*name)
        failed = refuse(f, "a section needs a name");
    if (!failed && strlen(name) > INIFILE_SECTION_MAX)
        failed = refuse(f, "the section's name is longer than 48 bytes");
    if (failed) {
        free(name);
        return failed;
    }
    d->section = mem_resize(d->section, d->sections + 1, sizeof *d->section);
    d->section[d->sections++] = (struct inifile_section){.name = name, .line = f->line};
    return 0;
}

static bool has_inline_comment(const char *value)
{
    for (; *value; value++)
        if (is_blank(value[0]) && (value[1] == ';' || value[1] == '#'))
            return true;
    return false;
}

static int check_entry(struct feed *f, const char *line)
{
    size_t key = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789-_.");
    const char *equals = line + key + strspn(line + key, " \t");
    if (key == 0 || *equals != '=')
        return refuse(f, "neither [SECTION], KEY = VALUE nor a comment");
    if (key > INIFILE_KEY_MAX)
        return refuse(f, "the key is longer than 40 bytes");
    if (has_inline_comment(equals))
        return refuse(f, "a comment stands on a line of its own, not behind a value");
    if (f->document->sections == 0)
        return refuse(f, "a key before the first [SECTION]");
    return 0;
}

/* One line, without its end; `line` is NUL-terminated. */
static int check_line(struct feed *f, const char *line, size_t length)
{
    if (strlen(line) != length || !is_text(line))
        return refuse(f, "holds bytes that are no text (UTF-8 without control characters)");
    if (line[strspn(line, " ")] == '\0' || line[0] == '#' || line[0] == ';')
        return 0;
    if (is_blank(line[0]))
        return refuse(f, "begins with a blank: a value stands on one line, and nothing is "
                         "indented");
    if (line[0] == '[')
        return add_section(f, line, strlen(line));
    return check_entry(f, line);
}

/* Tabs are blanks to us and control characters to is_text. */
static void plain_blanks(char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (line[i] == '\t')
            line[i] = ' ';
    while (length > 0 && line[length - 1] == ' ')
        line[--length] = '\0';
}

/* inih's fgets: the next line into `out`, NULL at the end or when a line was refused. */
static char *next_line(char *out, int size, void *stream)
{
    struct feed *f = stream;
    char line[INIFILE_LINE_MAX + 1];
    if (f->is_failed || f->at == f->end)
        return NULL;
    const char *newline = memchr(f->at, '\n', (size_t)(f->end - f->at));
    const char *stop = newline ? newline : f->end;
    size_t length = (size_t)(stop - f->at);
    const char *start = f->at;
    f->at = newline ? newline + 1 : f->end;
    f->line++;
    if (length > 0 && start[length - 1] == '\r')
        length--;
    if (length > INIFILE_LINE_MAX || length + 2 > (size_t)size) {
        refuse(f, "the line is longer than 190 bytes");
        return NULL;
    }
    memcpy(line, start, length);
    line[length] = '\0';
    size_t nul = strlen(line);
    if (nul == length) {
        plain_blanks(line, length);
        length = strlen(line);
    }
    if (check_line(f, line, length) != 0)
        return NULL;
    snprintf(out, (size_t)size, "%s\n", line[0] == '#' || line[0] == ';' ? "" : line);
    return out;
}

static int take_entry(void *user, const char *section, const char *name, const char *value)
{
    struct feed *f = user;
    struct inifile_section *last = &f->document->section[f->document->sections - 1];
    (void)section; /* inih's copy may be shortened; ours is not */
    last->entry = mem_resize(last->entry, last->entries + 1, sizeof *last->entry);
    last->entry[last->entries++] = (struct inifile_entry){
        .key = mem_copy_string(name), .value = mem_copy_string(value), .line = f->line};
    return 1;
}

int inifile_parse(const char *text, size_t length, const char *name, struct inifile *out,
                  struct err *e)
{
    struct feed f = {.at = text, .end = text + length, .document = out, .e = e};
    *out = (struct inifile){.name = mem_copy_string(name)};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        f.at += 3;
    int bad_line = ini_parse_stream(next_line, &f, take_entry, &f);
    if (!f.is_failed && bad_line != 0) { /* none known that check_line lets through */
        f.line = bad_line > 0 ? (unsigned)bad_line : 0;
        refuse(&f, "not understood");
    }
    if (!f.is_failed)
        return 0;
    inifile_free(out);
    return -1;
}

static int read_all(FILE *file, struct text *out)
{
    char part[8192];
    size_t count;
    while (out->length <= INIFILE_TEXT_MAX && !feof(file) && !ferror(file)) {
        count = fread(part, 1, sizeof part, file);
        text_add_bytes(out, part, count);
    }
    return ferror(file) ? -1 : 0;
}

int inifile_read(const char *path, struct inifile *out, struct err *e)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct text text = {0};
    int failed = 0;
    *out = (struct inifile){0};
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    if (!file || read_all(file, &text) != 0)
        failed = err_set_errno(e, "%s", path);
    else if (text.length > INIFILE_TEXT_MAX)
        failed = err_set(e, ERR_USAGE, "%s: longer than 256 KiB: no scenario file", path);
    else
        failed = inifile_parse(text_str(&text), text.length, is_stdin ? "standard input" : path,
                               out, e);
    if (file && !is_stdin)
        fclose(file);
    text_free(&text);
    return failed;
}

static void section_free(struct inifile_section *section)
{
    for (size_t i = 0; i < section->entries; i++) {
        free(section->entry[i].key);
        free(section->entry[i].value);
    }
    free(section->entry);
    free(section->name);
}

void inifile_free(struct inifile *document)
{
    for (size_t i = 0; i < document->sections; i++)
        section_free(&document->section[i]);
    free(document->section);
    free(document->name);
    *document = (struct inifile){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/rtt_mix.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"

#define RTT_MOST_NS 20000000000u
#define NS_PER_MS 1e6
#define RATE_LEAST 1000.0
#define ROW_MAX 120u
#define FILE_BYTES_MAX (64u << 10)
#define SHARES_OFF 1e-6 /* of 1: three shares of 0.333333 are all there is */
#define ROW_FORM "RTT:SHARE[:RATE], such as 20ms:0.5 or 80ms:0.25:10mbit"

static char *trim(char *word)
{
    while (isspace((unsigned char)*word))
        word++;
    size_t length = strlen(word);
    while (length > 0 && isspace((unsigned char)word[length - 1]))
        word[--length] = '\0';
    return word;
}

/* The next cell, or NULL behind the last. */
static char *next_cell(char **rest, char separator)
{
    char *cell = *rest;
    if (cell == NULL)
        return NULL;
    char *end = strchr(cell, separator);
    *rest = end != NULL ? end + 1 : NULL;
    if (end != NULL)
        *end = '\0';
    return trim(cell);
}

static int read_cells(const char *text, char separator, struct plan_distance *out,
                      struct err *e)
{
    char row[ROW_MAX], *rest = row;
    snprintf(row, sizeof row, "%s", text);
    const char *rtt = next_cell(&rest, separator), *share = next_cell(&rest, separator);
    const char *rate = next_cell(&rest, separator);
    uint64_t ns = 0;
    *out = (struct plan_distance){.rate_bits_per_s = 0};
    if (share == NULL || rest != NULL)
        return err_set(e, ERR_USAGE, "'%.60s': %s cells; give " ROW_FORM, text,
                       share == NULL ? "too few" : "too many");
    if (units_parse_duration_ns(rtt, &ns, e) != 0 || units_parse_share(share, &out->share, e))
        return -1;
    if (ns > RTT_MOST_NS)
        return err_set(e, ERR_USAGE, "'%.40s' is more than 20s", rtt);
    out->rtt_ms = (double)ns / NS_PER_MS;
    if (rate == NULL || rate[0] == '\0')
        return 0;
    if (units_parse_bits_per_s(rate, &out->rate_bits_per_s, e) != 0)
        return -1;
    if (out->rate_bits_per_s < RATE_LEAST)
        return err_set(e, ERR_USAGE, "'%.40s' is less than 1kbit", rate);
    return 0;
}

static int add_row(struct rtt_mix *mix, const char *text, size_t length, char separator,
                   struct err *e)
{
    char row[ROW_MAX];
    if (length >= sizeof row)
        return err_set(e, ERR_USAGE, "'%.40s...' is too long; give " ROW_FORM, text);
    if (mix->count == PLAN_RTTS_MAX)
        return err_set(e, ERR_USAGE, "more than %u round trips", PLAN_RTTS_MAX);
    memcpy(row, text, length);
    row[length] = '\0';
    return read_cells(row, separator, &mix->row[mix->count++], e);
}

static int check_sum(const struct rtt_mix *mix, struct err *e)
{
    double sum = 0;
    for (size_t i = 0; i < mix->count; i++)
        sum += mix->row[i].share;
    if (fabs(sum - 1) <= SHARES_OFF)
        return 0;
    return err_set(e, ERR_USAGE, "the shares add up to %.6g; they must to 1", sum);
}

static int read_inline(const char *text, struct rtt_mix *out, struct err *e)
{
    *out = (struct rtt_mix){.count = 0};
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (add_row(out, at, length, ':', e) != 0)
            return -1;
        at += length;
        if (*at == '\0')
            return check_sum(out, e);
    }
}

/* What of the line counts; a head counts for nothing. */
static size_t length_of_line(const char **line, bool is_first)
{
    size_t length = strcspn(*line, "#\n");
    while (length > 0 && isspace((unsigned char)**line)) {
        (*line)++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)(*line)[length - 1]))
        length--;
    return is_first && strncasecmp(*line, "rtt", 3) == 0 ? 0 : length;
}

int rtt_mix_read_csv(const char *content, const char *name, struct rtt_mix *out, struct err *e)
{
    size_t number = 1;
    *out = (struct rtt_mix){.count = 0};
    for (const char *at = content; *at != '\0'; number++) {
        const size_t whole = strcspn(at, "\n");
        const char *line = at;
        const size_t length = length_of_line(&line, number == 1);
        if (length > 0 && add_row(out, line, length, ',', e) != 0)
            return err_add_context(e, "%s: line %zu", name, number);
        at += whole + (at[whole] == '\n');
    }
    return check_sum(out, e) == 0 ? 0 : err_add_context(e, "%s", name);
}

int rtt_mix_read(const char *text, struct rtt_mix *out, struct err *e)
{
    if (strchr(text, ':') != NULL)
        return read_inline(text, out, e);
    if (access(text, R_OK) != 0)
        return err_set(e, ERR_USAGE, "'%.200s': no file (%s) and no list; give " ROW_FORM, text,
                       strerror(errno));
    char *content = file_read_text("", text, FILE_BYTES_MAX);
    if (content == NULL)
        return err_set(e, ERR_USAGE, "'%.200s': not a file of at most %u bytes", text,
                       FILE_BYTES_MAX);
    const int failed = rtt_mix_read_csv(content, text, out, e);
    free(content);
    return failed;
}

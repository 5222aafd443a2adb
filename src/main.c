/* SPDX-License-Identifier: Apache-2.0 */
/* The program: finds the command, prints its error, picks the exit status. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/text.h"
#include "cli/argv.h"
#include "cli/build_info.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include "tls/loader.h"

static void print_line(const char *before, const char *text)
{
    struct text line = {0};
    text_addf(&line, "pqc-bench%s: ", before);
    text_add_harmless(&line, text);
    text_add(&line, "\n");
    fwrite(text_str(&line), 1, line.length, stderr);
    text_free(&line);
}

/* One line on stderr, whatever strange bytes the message quotes. */
static int print_error(const struct command *command, const struct err *e)
{
    struct text before = {0};
    if (command)
        text_addf(&before, " %s", command->name);
    print_line(text_str(&before), e->text);
    text_free(&before);
    return err_exit_status(e);
}

static int print_text(struct text *text)
{
    fwrite(text_str(text), 1, text->length, stdout);
    text_free(text);
    return 0;
}

static int print_command_help(const struct command *command)
{
    struct text help = {0};
    help_add_command(&help, command);
    return print_text(&help);
}

static int check_operands(const struct command *command, const struct argv_operands *operands,
                          struct err *e)
{
    if (operands->count > 0 && !command->operands)
        return err_set(e, ERR_USAGE, "'%s': takes no operand; see --help", operands->word[0]);
    if (operands->count < command->operands_min)
        return err_set(e, ERR_USAGE, "needs %s; see --help", command->operands);
    if (command->operands && operands->count > command->operands_max)
        return err_set(e, ERR_USAGE, "'%s': one operand too many; see --help",
                       operands->word[command->operands_max]);
    return 0;
}

/* A module that is there and does not load: worth a line, no reason to stop. */
static void load_backends(struct tls_backends *backends, struct err *e)
{
    char *warnings = NULL;
    if (tls_backends_load(backends, &warnings, e) != 0)
        *backends = (struct tls_backends){0};
    for (char *save = NULL, *line = warnings ? strtok_r(warnings, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save))
        print_line(": warning", line);
    free(warnings);
}

/* The modules are loaded once the words are known to make sense: a mistake costs no time. */
static int run_with_backends(struct command_call *call, struct err *e)
{
    struct tls_backends backends;
    struct err backends_error = ERR_INIT;
    load_backends(&backends, &backends_error);
    struct command_context context = *call->context;
    context.backends = &backends;
    context.backends_error = &backends_error;
    const struct command_context *before = call->context;
    call->context = &context;
    int failed = command_call_run(call, e);
    call->context = before;
    tls_backends_free(&backends);
    return failed;
}

static int run_call(struct command_call *call, int argc, char **argv)
{
    struct err e = ERR_INIT;
    struct argv_operands operands;
    int status = 0;
    int failed = argv_parse(&call->options, argc, argv, &operands, &e);
    call->operands = operands.count;
    call->operand = operands.word;
    if (!failed && operands.wants_help)
        status = print_command_help(call->command);
    else
        failed = failed || check_operands(call->command, &operands, &e) != 0 ||
                 run_with_backends(call, &e) != 0;
    if (failed) {
        fflush(stdout); /* what was shown stands above the error */
        status = print_error(call->command, &e);
    }
    argv_operands_free(&operands);
    return status;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    static char program[] = "pqc-bench";
    struct command_call call;
    argv[0] = program; /* however it was called */
    const struct command_context context = {
        .words = (size_t)argc, .word = argv, .stop = stop_flag()};
    command_call_init(&call, command, &context);
    int status = run_call(&call, argc - 2, argv + 2);
    command_call_fini(&call);
    return status;
}

static int print_version(void)
{
    struct tls_backends backends;
    struct err e = ERR_INIT;
    load_backends(&backends, &e);
    char *version = build_version_text(&backends);
    fputs(version, stdout);
    free(version);
    tls_backends_free(&backends);
    return 0;
}

static int refuse_command(const char *word)
{
    const char *names[64];
    size_t count = 0;
    struct err e = ERR_INIT;
    for (const struct command *const *at = command_all(); *at && count < 64; at++)
        names[count++] = (*at)->name;
    const char *nearest = argv_nearest_name(names, count, word);
    if (word[0] == '-')
        err_set(&e, ERR_USAGE, "%s: no such option; see --help", word);
    else if (nearest)
        err_set(&e, ERR_USAGE, "%s: no such command; did you mean %s?", word, nearest);
    else
        err_set(&e, ERR_USAGE, "%s: no such command; see --help", word);
    return print_error(NULL, &e);
}

static int run_words(int argc, char **argv)
{
    struct text text = {0};
    const char *word = argc > 1 ? argv[1] : NULL;
    struct err e = ERR_INIT;
    if (!word) {
        err_set(&e, ERR_USAGE, "needs a command; see --help");
        return print_error(NULL, &e);
    }
    const struct command *command = command_find(word);
    if (command)
        return run_command(command, argc, argv);
    if (strcmp(word, "--version") == 0)
        return print_version();
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        help_add_program(&text);
    else if (strcmp(word, "--print-man") == 0)
        manual_add_page(&text);
    else if (strcmp(word, "--print-completion") == 0)
        completion_add_script(&text);
    else
        return refuse_command(word);
    return print_text(&text);
}

/* Somebody read from standard output and has closed it (head). */
static bool is_reader_gone(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP));
}

/* A reader that has seen enough is no failure; a full disk is. */
static int close_output(int status)
{
    bool is_failed = ferror(stdout) != 0;
    errno = 0;
    is_failed = fflush(stdout) != 0 || is_failed;
    if (!is_failed || is_reader_gone())
        return status;
    struct err e = ERR_INIT;
    err_set(&e, ERR_SYSTEM, "standard output: %s",
            errno != 0 ? strerror(errno) : "cannot be written");
    print_error(NULL, &e);
    return status != 0 ? status : err_exit_status(&e);
}

int main(int argc, char **argv)
{
    terminal_guard_descriptors();
    stop_install();
    int status = close_output(run_words(argc, argv));
    if (*stop_flag() != 0)
        stop_end_by_signal(*stop_flag());
    return status;
}

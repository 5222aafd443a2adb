/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_setting.h - the options of every command that measures by open-loop load: what is
 * measured, and by which generator.
 *
 * Layer: cli.
 * Shape: a command has a struct load_setting among its values, LOAD_SUBJECT_ROWS and
 *   LOAD_GENERATOR_ROWS in its table, and calls fill, check and apply in that order.
 * Threads: one owner each.
 */
#ifndef CLI_LOAD_SETTING_H
#define CLI_LOAD_SETTING_H

#include "cli/arm_options.h"
#include "cli/command.h"
#include "cli/peer_choice.h"
#include "cli/predict_options.h"
#include "net/address.h"
#include "net/link_spec.h"
#include "run/load.h"

struct load_setting {
    struct option_list arms;
    char *target, *agent, *source, *sni, *path, *roots, *link;
    struct peer_choice peer;
    unsigned arrivals, close;
    uint64_t warmup_ns, grace_ns, timeout_ns, workers, max_in_flight, seed;
    bool is_spinning;
    struct cpu_set client_cores, server_cores;
    struct predict_options predict;
};

/* For the row of --link: is it one? */
int load_setting_check_link(const char *text, struct err *e);

/* table: rows for a command's options */
#define LOAD_SETTING_MS_NS 1e6
#define LOAD_SETTING_DAY_NS 8.64e13
#define LOAD_SETTING_AT(type, at, member) \
    .offset = offsetof(type, at) + offsetof(struct load_setting, member)
#define LOAD_SETTING_TIME_ROW(type, at, option, member, value, least, text)            \
    {                                                                                  \
        .name = option, .kind = OPTION_DURATION, .argument = "TIME", .initial = value, \
        .help = text, .low = least, .high = LOAD_SETTING_DAY_NS,                       \
        LOAD_SETTING_AT(type, at, member)                                              \
    }
#define LOAD_SETTING_TEXT_ROW(type, at, option, member, word, text, note)    \
    {                                                                        \
        .name = option, .kind = OPTION_TEXT, .argument = word, .help = text, \
        .unset_note = note, LOAD_SETTING_AT(type, at, member)                \
    }
#define LOAD_SUBJECT_ROWS(type, at)                                                      \
    {.name = "arm",                                                                      \
     .kind = OPTION_LIST,                                                                \
     .argument = "ARM",                                                                  \
     .help = "'NAME: KEY=VALUE ...', a configuration to compare; may be repeated",       \
     .unset_note = "classical, pq, control",                                             \
     .check = arm_options_check,                                                         \
     LOAD_SETTING_AT(type, at, arms)},                                                   \
        LOAD_SETTING_TEXT_ROW(type, at, "target", target, "HOST:PORT",                   \
                              "the TLS server to measure",                               \
                              "an embedded server on cores of its own"),                 \
        PEER_CHOICE_ROWS(type, at.peer),                                                 \
        LOAD_SETTING_TEXT_ROW(                                                           \
            type, at, "agent", agent, "HOST:PORT",                                       \
            "a 'pqc-bench serve --agent' on the target's machine, for the server's CPU", \
            "none; a server that load started is watched by itself")
#define LOAD_GENERATOR_ROWS(type, at)                                                         \
    {.name = "arrivals",                                                                      \
     .kind = OPTION_CHOICE,                                                                   \
     .argument = "KIND",                                                                      \
     .initial = "constant",                                                                   \
     .help = "evenly spaced, or a Poisson process",                                           \
     .choices = "constant|poisson",                                                           \
     LOAD_SETTING_AT(type, at, arrivals)},                                                    \
        LOAD_SETTING_TIME_ROW(type, at, "warmup", warmup_ns, "500ms", 0,                      \
                              "before the measured part, and dropped"),                       \
        {.name = "workers",                                                                   \
         .kind = OPTION_COUNT,                                                                \
         .argument = "COUNT",                                                                 \
         .help = "threads of the generator",                                                  \
         .unset_note = "one for each client core",                                            \
         .low = 1,                                                                            \
         .high = 1024,                                                                        \
         LOAD_SETTING_AT(type, at, workers)},                                                 \
        {.name = "spin",                                                                      \
         .kind = OPTION_SWITCH,                                                               \
         .initial = "off",                                                                    \
         .help = "poll instead of sleeping: earlier starts, busy cores",                      \
         LOAD_SETTING_AT(type, at, is_spinning)},                                             \
        {.name = "max-in-flight",                                                             \
         .kind = OPTION_COUNT,                                                                \
         .argument = "COUNT",                                                                 \
         .initial = "10000",                                                                  \
         .help = "connections open at once; arrivals beyond it wait",                         \
         .low = 1,                                                                            \
         .high = 1000000,                                                                     \
         LOAD_SETTING_AT(type, at, max_in_flight)},                                           \
        LOAD_SETTING_TIME_ROW(type, at, "grace", grace_ns, "5s", 0,                           \
                              "after the last arrival, for what is open; the rest is "        \
                              "unfinished"),                                                  \
        LOAD_SETTING_TIME_ROW(type, at, "timeout", timeout_ns, "10s", LOAD_SETTING_MS_NS,     \
                              "a connection that takes longer has failed"),                   \
        LOAD_SETTING_TEXT_ROW(type, at, "source", source, "A-B",                              \
                              "local IPv4 addresses that connections come from in turn",      \
                              "the kernel's choice"),                                         \
        {.name = "close",                                                                     \
         .kind = OPTION_CHOICE,                                                               \
         .argument = "HOW",                                                                   \
         .initial = "fin",                                                                    \
         .help = "how connections end: politely, or by a reset that leaves no TIME_WAIT",     \
         .choices = "fin|rst",                                                                \
         LOAD_SETTING_AT(type, at, close)},                                                   \
        LOAD_SETTING_TEXT_ROW(type, at, "sni", sni, "NAME",                                   \
                              "server name to send and to verify", "the target's name"),      \
        LOAD_SETTING_TEXT_ROW(type, at, "path", path, "PATH", "what is requested",            \
                              "/, or /bytes/N for an arm's payload"),                         \
        LOAD_SETTING_TEXT_ROW(type, at, "roots", roots, "FILE",                               \
                              "certificates to trust, PEM; for --target", "the system's"),    \
        {.name = "link",                                                                      \
         .kind = OPTION_TEXT,                                                                 \
         .argument = "SPEC",                                                                  \
         .help = "an emulated link to the server that is started: a profile (lan, metro, "    \
                 "continental, intercontinental, satellite, lte-m, 5g, 1mbit), or rtt=, "     \
                 "delay=, jitter=, loss=, burst=, rate=, queue=, largest=, mtu=, initcwnd=, " \
                 "cc=, netem, or both, commas between",                                       \
         .unset_note = "loopback",                                                            \
         .check = load_setting_check_link,                                                    \
         LOAD_SETTING_AT(type, at, link)},                                                    \
        {.name = "seed",                                                                      \
         .kind = OPTION_COUNT,                                                                \
         .argument = "COUNT",                                                                 \
         .help = "of the random order of the arms, and of Poisson arrivals",                  \
         .unset_note = "a fresh one, recorded",                                               \
         .low = 0,                                                                            \
         .high = 9007199254740991.0,                                                          \
         LOAD_SETTING_AT(type, at, seed)},                                                    \
        {.name = "client-cores",                                                              \
         .kind = OPTION_CORES,                                                                \
         .argument = "LIST",                                                                  \
         .help = "cores for the generator, like 0-1,4",                                       \
         .unset_note = "the upper half of those allowed",                                     \
         LOAD_SETTING_AT(type, at, client_cores)},                                            \
        {.name = "server-cores",                                                              \
         .kind = OPTION_CORES,                                                                \
         .argument = "LIST",                                                                  \
         .help = "cores for the server that is started, one worker each",                     \
         .unset_note = "the lower half",                                                      \
         LOAD_SETTING_AT(type, at, server_cores)},                                            \
        PREDICT_OPTION_ROWS(type, at.predict)

/* What was not given is chosen, so that the echo in the result is complete: the default arms,
 * a seed, cores, workers.  s is the member of the call's values. */
int load_setting_fill(struct command_call *call, struct load_setting *s, struct err *e)
    __attribute__((warn_unused_result));

/* Options that do not fit together, and arms that cannot be done; nobody is asked. */
int load_setting_check(const struct command_call *call, const struct load_setting *s,
                       struct err *e) __attribute__((warn_unused_result));

/* The arms, with key shares predicted; free with free().  may_ask: DNS. */
struct arm_list *load_setting_read_arms(const struct command_call *call,
                                        const struct load_setting *s, bool may_ask,
                                        struct err *e) __attribute__((warn_unused_result));

/* What is read or looked for before the run and needed in it. */
struct load_inputs {
    struct address_range sources; /* count 0: none */
    char *roots;
    struct link_spec link; /* mtu 0: none */
    struct peer_program peer;
};
int load_inputs_open(const struct load_setting *s, struct load_inputs *in, struct err *e)
    __attribute__((warn_unused_result));
void load_inputs_close(struct load_inputs *in);

/* Into the options of a run, whose other members stay as they are; `in` outlives it. */
void load_setting_apply(const struct command_call *call, const struct load_setting *s,
                        const struct load_inputs *in, struct load_options *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_predict.h - key share prediction for the servers of a probe.
 *
 * Layer: cli.
 * Threads: one owner each.
 */
#ifndef CLI_PROBE_PREDICT_H
#define CLI_PROBE_PREDICT_H

#include "cli/hosts.h"
#include "cli/predict_options.h"

/* For every host what a browser with a prediction would send, into its target.  Nothing
 * without --predict.  backend, sni: as given, or NULL.  ERR_USAGE where DNS is to be asked and
 * a host has no name, ERR_FAILED where no resolver answers. */
int probe_predict(const struct predict_options *o, const struct tls_backends *backends,
                  const char *backend, const char *sni, struct hosts *hosts, struct err *e)
    __attribute__((warn_unused_result));

#endif

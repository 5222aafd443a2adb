/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_assets.h - what the page brings with it, put into the program by assets/embed.py.
 *
 * Layer: report, private to the HTML report.
 * Shape: UTF-8 with a NUL behind.  None of it holds "</script", "</style" or "<!--".
 * Threads: any.
 */
#ifndef REPORT_HTML_ASSETS_H
#define REPORT_HTML_ASSETS_H

extern const unsigned char html_assets_style[];  /* uPlot's and ours */
extern const unsigned char html_assets_script[]; /* the same */
/* Of exactly the script's bytes: "sha256-" and base64, for the page's policy. */
extern const char html_assets_script_hash[];

#endif

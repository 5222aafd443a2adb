#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exports.sh MODULE.so... - does each module show its entry point and nothing else?
status=0
for module in "$@"; do
	shown=$("${NM:-nm}" -D --defined-only "$module" | awk '{ print $3 }')
	if [ "$shown" != pqc_bench_tls_backend ]; then
		echo "$module shows: $shown"
		status=1
	fi
done
exit $status

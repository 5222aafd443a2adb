/* SPDX-License-Identifier: Apache-2.0 */
/* Does a backend keep the contract of tls/backend.h? One source for all of them:
 *   conformance MODULE.so */
#include "conformance.h"
#include <stdio.h>
#include "lab.h"

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s MODULE.so\n", argv[0]);
        return 2;
    }
    lab = lab_load(argv[1]);
    printf("# %s (%s)\n", lab_label(), lab->description);
    int failed = conform_handshake() + conform_groups() + conform_certificate() +
                 conform_resumption() + conform_early_data() + conform_failure() +
                 conform_sizes() + conform_stream() + conform_primitive();
    lab_fini();
    return failed == 0 ? 0 : 1;
}

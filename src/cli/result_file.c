/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/result_file.h"
#include <stdlib.h>
#include <sys/stat.h>
#include "cli/outfile.h"
#include "report/json_read.h"

struct result *result_file_read(const char *path, struct err *e)
{
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode))
        return json_read_file(path, e);
    char *file = outfile_join(path, "result.json");
    struct result *result = json_read_file(file, e);
    free(file);
    return result;
}

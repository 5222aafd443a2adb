/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/group_codes.h"
#include <stdio.h>

/* clang-format off */
static const struct group_code table[] = {
    {0x11ec, "X25519MLKEM768", GROUP_HYBRID, false},
    {0x11eb, "SecP256r1MLKEM768", GROUP_HYBRID, false},
    {0x11ed, "SecP384r1MLKEM1024", GROUP_HYBRID, false},
    {0x11ee, "curveSM2MLKEM768", GROUP_HYBRID, false},
    {0x0200, "MLKEM512", GROUP_POST_QUANTUM, false},
    {0x0201, "MLKEM768", GROUP_POST_QUANTUM, false},
    {0x0202, "MLKEM1024", GROUP_POST_QUANTUM, false},
    {0x001d, "X25519", GROUP_CLASSICAL, false},
    {0x0017, "secp256r1", GROUP_CLASSICAL, false},
    {0x0018, "secp384r1", GROUP_CLASSICAL, false},
    {0x0019, "secp521r1", GROUP_CLASSICAL, false},
    {0x001e, "X448", GROUP_CLASSICAL, false},
    {0x001f, "brainpoolP256r1tls13", GROUP_CLASSICAL, false},
    {0x0020, "brainpoolP384r1tls13", GROUP_CLASSICAL, false},
    {0x0021, "brainpoolP512r1tls13", GROUP_CLASSICAL, false},
    {0x0022, "GC256A", GROUP_CLASSICAL, false},
    {0x0023, "GC256B", GROUP_CLASSICAL, false},
    {0x0024, "GC256C", GROUP_CLASSICAL, false},
    {0x0025, "GC256D", GROUP_CLASSICAL, false},
    {0x0026, "GC512A", GROUP_CLASSICAL, false},
    {0x0027, "GC512B", GROUP_CLASSICAL, false},
    {0x0028, "GC512C", GROUP_CLASSICAL, false},
    {0x0029, "curveSM2", GROUP_CLASSICAL, false},
    {0x0100, "ffdhe2048", GROUP_CLASSICAL, false},
    {0x0101, "ffdhe3072", GROUP_CLASSICAL, false},
    {0x0102, "ffdhe4096", GROUP_CLASSICAL, false},
    {0x0103, "ffdhe6144", GROUP_CLASSICAL, false},
    {0x0104, "ffdhe8192", GROUP_CLASSICAL, false},
    {0x6399, "X25519Kyber768Draft00", GROUP_HYBRID, true},
    {0x639a, "SecP256r1Kyber768Draft00", GROUP_HYBRID, true},
};
/* clang-format on */
#define CODES (sizeof table / sizeof table[0])
_Static_assert(CODES <= GROUP_CODES_MAX, "the header says how many there may be");

const struct group_code *group_codes(size_t *count)
{
    *count = CODES;
    return table;
}

const struct group_code *group_code_find(unsigned code)
{
    for (size_t i = 0; i < CODES; i++)
        if (table[i].code == code)
            return &table[i];
    return NULL;
}

const char *group_code_name(unsigned code, char *buf, size_t size)
{
    const struct group_code *known = group_code_find(code);
    if (known != NULL)
        return known->name;
    snprintf(buf, size, "0x%04x", code);
    return buf;
}

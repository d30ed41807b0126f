/* utf8.c: one check, for texts that come in (JSON, URLs) and messages that go out. */
#include "json.h"

size_t utf8_size(const unsigned char *p, size_t len)
{
    if (len == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    size_t size = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4 || len < size)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    /* Longer than need be, a surrogate, or beyond the last character: told by the second byte. */
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) || (p[0] == 0xF0 && p[1] < 0x90) ||
        (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    return size;
}

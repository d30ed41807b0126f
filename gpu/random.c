/* random.c: random input that host and card make alike: word i of the stream of a seed is a function of both,
 * so any element's value is known without keeping a copy of the input. kernels.c has the same function for
 * the card. */
#include "internal.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

/* The finaliser of splitmix64: every bit of x changes half of the result's. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t gpu_random_word(uint64_t seed, uint64_t i)
{
    return mix(mix(seed) + (i + 1) * 0x9e3779b97f4a7c15u);
}

void gpu_random_bytes(uint64_t seed, uint64_t at, void *out, size_t size)
{
    unsigned char *byte = out;
    for (size_t done = 0; done < size;) {
        const uint64_t word = gpu_random_word(seed, (at + done) / 8);
        const size_t skip = (at + done) % 8, left = size - done, n = left < 8 - skip ? left : 8 - skip;
        memcpy(byte + done, (const unsigned char *)&word + skip, n); /* little-endian, as the card is */
        done += n;
    }
}

int64_t gpu_random_seed(void)
{
    enum { JSON_BITS = 49 }; /* below 10^15: cJSON prints 15 digits */
    uint64_t x = 0;
    if (getrandom(&x, sizeof x, GRND_NONBLOCK) != sizeof x) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        x = mix((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30);
    }
    return (int64_t)(x >> (64 - JSON_BITS)) | 1;
}

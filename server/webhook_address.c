/* webhook_address.c: which addresses a webhook may call.
 *
 * A webhook is a request that somebody else has this machine make: to what is reachable from here alone (a router's
 * page, a cloud's metadata) it must not go. So what is not plainly an address of the whole internet is refused. */
#include "webhook_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* IPv4 that is not: RFC 6890 and its successors. */
static const struct {
    uint32_t network;
    unsigned bits;
} reserved[] = {
    {0x00000000, 8},  /* this network */
    {0x0a000000, 8},  /* private */
    {0x64400000, 10}, /* carriers */
    {0x7f000000, 8},  /* this machine */
    {0xa9fe0000, 16}, /* this link, and metadata of clouds */
    {0xac100000, 12}, /* private */
    {0xc0000000, 24}, /* protocols */
    {0xc0000200, 24}, /* examples */
    {0xc0586300, 24}, /* 6to4 */
    {0xc0a80000, 16}, /* private */
    {0xc6120000, 15}, /* measurements */
    {0xc6336400, 24}, /* examples */
    {0xcb007100, 24}, /* examples */
    {0xe0000000, 3},  /* multicast, reserved, broadcast */
};

static bool is_public_v4(uint32_t address)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if ((address ^ reserved[i].network) >> (32 - reserved[i].bits) == 0)
            return false;
    return true;
}

/* Of IPv6 only 2000::/3 is given out; in it Teredo (2001::/32), examples (2001:db8::/32, 3fff::/20) and 6to4
 * (2002::/16) lead elsewhere. A mapped IPv4 address is that one. */
static bool is_public_v6(const unsigned char a[16])
{
    static const unsigned char mapped[12] = {[10] = 0xff, 0xff};
    if (memcmp(a, mapped, sizeof mapped) == 0)
        return is_public_v4((uint32_t)a[12] << 24 | (uint32_t)a[13] << 16 | (uint32_t)a[14] << 8 | a[15]);
    const unsigned first = (unsigned)a[0] << 8 | a[1], second = (unsigned)a[2] << 8 | a[3];
    return first >> 13 == 1 && first != 0x2002 && !(first == 0x2001 && (second == 0 || second == 0xdb8)) &&
           !(first == 0x3fff && second >> 12 == 0);
}

bool address_is_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return is_public_v4(ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr));
    return address->sa_family == AF_INET6 &&
           is_public_v6(((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr);
}

/* webhook_address.h: which addresses a webhook may call. */
#ifndef WEBHOOK_ADDRESS_H
#define WEBHOOK_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* An address of the whole internet: not of this machine, its network, or anything reserved. */
bool address_is_public(const struct sockaddr *address);

#endif

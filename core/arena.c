/* arena.c: a bump allocator with a limit, one a request.
 *
 * Blocks are chained; each is at least BLOCK_BYTES and the first one survives a reset, so that a warm arena makes no
 * system calls. What has not been handed out is poisoned under AddressSanitizer. There is no free of one object. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) __asan_poison_memory_region(p, n)
#define UNPOISON(p, n) __asan_unpoison_memory_region(p, n)
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum {
    BLOCK_BYTES = 64 * 1024, /* a usual request fits in the first block */
    ALIGN = 16
};

struct block {
    struct block *next;
    size_t size; /* of data */
    _Alignas(ALIGN) unsigned char data[];
};

struct la_arena {
    struct block *first, *last;
    size_t used;  /* of the last block */
    size_t total; /* handed out since the last reset */
    size_t limit;
};

static struct block *block_new(size_t size)
{
    struct block *b = malloc(sizeof *b + size);
    if (!b)
        return NULL;
    b->next = NULL;
    b->size = size;
    POISON(b->data, size);
    return b;
}

struct la_arena *la_arena_new(size_t limit)
{
    struct la_arena *arena = malloc(sizeof *arena);
    if (!arena)
        return NULL;
    struct block *b = block_new(BLOCK_BYTES);
    if (!b) {
        free(arena);
        return NULL;
    }
    *arena = (struct la_arena){.first = b, .last = b, .limit = limit};
    return arena;
}

static void free_chain(struct block *b)
{
    while (b) {
        struct block *next = b->next;
        UNPOISON(b->data, b->size);
        free(b);
        b = next;
    }
}

void la_arena_free(struct la_arena *arena)
{
    if (!arena)
        return;
    free_chain(arena->first);
    free(arena);
}

void la_arena_reset(struct la_arena *arena)
{
    free_chain(arena->first->next);
    arena->first->next = NULL;
    arena->last = arena->first;
    arena->used = 0;
    arena->total = 0;
    POISON(arena->first->data, arena->first->size);
}

void *la_arena_alloc(struct la_arena *arena, size_t size)
{
    if (size > arena->limit) /* also keeps the rounding below from wrapping */
        return NULL;
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (size > arena->limit - arena->total)
        return NULL;
    if (size > arena->last->size - arena->used) {
        struct block *b = block_new(size > BLOCK_BYTES ? size : BLOCK_BYTES);
        if (!b)
            return NULL;
        arena->last->next = b;
        arena->last = b;
        arena->used = 0;
    }
    void *p = arena->last->data + arena->used;
    UNPOISON(p, size);
    arena->used += size;
    arena->total += size;
    return p;
}

size_t la_arena_used(const struct la_arena *arena)
{
    return arena->total;
}

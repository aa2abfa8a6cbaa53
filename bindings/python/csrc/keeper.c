// keeper.c: memory that outlives its owner while a view looks at it (keeper.h).
//
// Views are few and short-lived, so they stand in a plain list that resize and free look through; with no view at all
// both cost what libc's do. A lock is needed since Python may drop a view while another thread steps.

#include "keeper.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct held {
    const char *at;
    int64_t views;
    void *block;  // that the simulation gave back and only views keep; NULL: still the simulation's
} held;

struct toile_keeper {
    pthread_mutex_t lock;
    held *list;
    int32_t count, cap;
    int64_t users;
};

toile_keeper *toile_keeper_create(void)
{
    toile_keeper *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    k->users = 1;
    pthread_mutex_init(&k->lock, NULL);
    return k;
}

// One user less; frees the keeper with the last one. Takes the lock held and gives it back.
static void leave(toile_keeper *k)
{
    const int64_t users = --k->users;
    pthread_mutex_unlock(&k->lock);
    if (users > 0) return;
    pthread_mutex_destroy(&k->lock);
    free(k->list);
    free(k);
}

// 1: views look into the block, which is theirs from now on.
static int hand_over(toile_keeper *k, void *block, size_t size)
{
    int any = 0;
    const char *from = block;
    for (int32_t i = 0; i < k->count; i++)
        if (!k->list[i].block && k->list[i].at >= from && k->list[i].at < from + size)
            k->list[i].block = block, any = 1;
    return any;
}

static void *keeper_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    toile_keeper *k = user;
    if (!ptr) return new_size ? malloc(new_size) : NULL;
    pthread_mutex_lock(&k->lock);
    void *out = NULL;
    int looked_at = 0;
    for (int32_t i = 0; i < k->count && !looked_at; i++)
        looked_at = !k->list[i].block && k->list[i].at >= (char *)ptr && k->list[i].at < (char *)ptr + old_size;
    if (!looked_at) {
        pthread_mutex_unlock(&k->lock);
        if (new_size) return realloc(ptr, new_size);
        free(ptr);
        return NULL;
    }
    if (new_size) {
        out = malloc(new_size);
        if (out) memcpy(out, ptr, old_size < new_size ? old_size : new_size);
    }
    if (out || !new_size) hand_over(k, ptr, old_size);
    pthread_mutex_unlock(&k->lock);
    return out;
}

tl_allocator toile_keeper_allocator(toile_keeper *k) { return (tl_allocator){keeper_resize, k}; }

int toile_keeper_hold(toile_keeper *k, const void *at)
{
    pthread_mutex_lock(&k->lock);
    int32_t i = 0;
    while (i < k->count && (k->list[i].at != at || k->list[i].block)) i++;
    if (i == k->cap) {
        const int32_t cap = k->cap ? 2 * k->cap : 16;
        held *list = realloc(k->list, (size_t)cap * sizeof *list);
        if (!list) {
            pthread_mutex_unlock(&k->lock);
            return 0;
        }
        k->list = list, k->cap = cap;
    }
    if (i == k->count) k->list[k->count++] = (held){at, 0, NULL};
    k->list[i].views++;
    k->users++;
    pthread_mutex_unlock(&k->lock);
    return 1;
}

void toile_keeper_drop(toile_keeper *k, const void *at)
{
    pthread_mutex_lock(&k->lock);
    for (int32_t i = 0; i < k->count; i++) {
        if (k->list[i].at != at) continue;
        if (--k->list[i].views > 0) break;
        void *block = k->list[i].block;
        k->list[i] = k->list[--k->count];
        int shared = 0;
        for (int32_t j = 0; block && j < k->count; j++) shared |= k->list[j].block == block;
        if (!shared) free(block);
        break;
    }
    leave(k);
}

void toile_keeper_release(toile_keeper *k)
{
    if (!k) return;
    pthread_mutex_lock(&k->lock);
    leave(k);
}

int toile_ask(void *asker)
{
    enum { ASK_EVERY = 20000000 };
    toile_asker *a = asker;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (ns - a->last < ASK_EVERY) return 0;
    a->last = ns;
    return a->ask(a->user);
}

int32_t toile_keeper_kept(toile_keeper *k)
{
    pthread_mutex_lock(&k->lock);
    int32_t n = 0;
    for (int32_t i = 0; i < k->count; i++) n += k->list[i].block != NULL;
    pthread_mutex_unlock(&k->lock);
    return n;
}

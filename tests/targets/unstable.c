/* Something to find, in a harness that does not do the same twice: with random numbers, with a cache
 * that stays over inputs, or with threads whose order nobody knows; FEW makes it a small part of the
 * whole. MEMO does nothing at all for the input that it had last. With none of these it is stable,
 * and with SETUP as well: it does something once, for the first input. */
#include "branches.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Sixteen branches, or one, each with a loop. */
#define LOOP(if_so, times) if (if_so) for (unsigned k = (times); k; k--) sink++;
#define FOUR(M, i) M(i) M(i + 1) M(i + 2) M(i + 3)
#ifdef FEW
#define ALL(M) M(1u)
#else
#define ALL(M) FOUR(M, 0u) FOUR(M, 4u) FOUR(M, 8u) FOUR(M, 12u)
#endif

#if defined(RANDOM)

/* Rare branches: each of them, and every number of rounds, looks new when it comes. */
static void more(const uint8_t *data, size_t size) {
  (void)data, (void)size;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t z = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 31) * 0xbf58476d1ce4e5b9ull >> 4;
#define RARE(i) LOOP((z >> 8 & 1023) == 77 * i, z >> 30 & 127)
  ALL(RARE)
}

#elif defined(CACHE)

/* Remembers inputs by their hash, in lists that grow; what it does for a new one depends on how many
 * there are. */
static void more(const uint8_t *data, size_t size) {
  static struct entry { struct entry *next; unsigned hash; } entries[1 << 16], *lists[64];
  static unsigned used;
  unsigned hash = 5381;
  for (size_t i = 0; i < size; i++) hash = hash * 33 + data[i];
  struct entry *e = lists[hash % 64];
  while (e && e->hash != hash) e = e->next;
  if (e) {
    sink++;
    return;
  }
#define FULL(i) LOOP(used == 40 * i, used & 127)
  ALL(FULL)
  if (used < 1 << 16) {
    entries[used] = (struct entry){lists[hash % 64], hash};
    lists[hash % 64] = &entries[used++];
  }
}

#elif defined(THREADS)

static volatile unsigned last, changes;

static void *race(void *name) {
  for (unsigned k = 0; k < 16; k++) {
    if (last != (unsigned)(uintptr_t)name) changes++;
    last = (unsigned)(uintptr_t)name;
    nanosleep(&(struct timespec){.tv_nsec = 1}, NULL); /* who wakes first is chance, also on one core */
  }
  return NULL;
}

/* How often the two took turns. */
static void more(const uint8_t *data, size_t size) {
  (void)data, (void)size;
  pthread_t threads[2];
  changes = 0;
  for (uintptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, race, (void *)(i + 1));
  for (unsigned i = 0; i < 2; i++) pthread_join(threads[i], NULL);
#define OFTEN(i) LOOP(changes == i * 2 + 1, changes)
  ALL(OFTEN)
}

#else

static void more(const uint8_t *data, size_t size) { (void)data, (void)size; }

#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
#ifdef SETUP
  static unsigned squares[100];
  for (unsigned i = 0; !squares[99] && i < 100; i++) squares[i] = i * i;
  sink += squares[size % 100];
#endif
#ifdef MEMO
  static uint8_t last[64];
  static size_t length = sizeof last + 1;
  size_t part = size < sizeof last ? size : sizeof last;
  if (length == size && memcmp(last, data, part) == 0) return 0;
  length = size;
  memcpy(last, data, part);
#endif
  more(data, size);
  sink += branches(data, size);
  return 0;
}

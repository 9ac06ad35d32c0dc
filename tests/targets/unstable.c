/* Something to find, in a harness that does not do the same twice: with random numbers, with a cache
 * that stays over inputs, or with threads whose order nobody knows. With none of these it is stable. */
#include "branches.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef RANDOM
/* Many rare branches: each of them would be a discovery when it comes. */
static void more(const uint8_t *data, size_t size) {
  (void)data, (void)size;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t z = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15ull;
  z ^= z >> 31, z *= 0xbf58476d1ce4e5b9ull, z ^= z >> 29;
#define ONE(i) if ((z >> (i) & 1023) == 512 + (i)) for (unsigned k = z >> 50 & 31; k; k--) sink++;
#define SOME(i) ONE(i) ONE(i + 1) ONE(i + 2) ONE(i + 3) ONE(i + 4) ONE(i + 5) ONE(i + 6) ONE(i + 7)
  SOME(0) SOME(8) SOME(16) SOME(24)
}
#elif defined(CACHE)
/* Remembers inputs by a hash; in a list, which is searched, and grows. */
static void more(const uint8_t *data, size_t size) {
  static struct entry { struct entry *next; unsigned hash; } entries[1 << 16], *lists[64];
  static unsigned used;
  unsigned hash = 5381;
  for (size_t i = 0; i < size; i++) hash = hash * 33 + data[i];
  struct entry *e = lists[hash % 64];
  while (e && e->hash != hash) e = e->next;
  if (e) {
    sink++;
  } else if (used < 1 << 16) {
    entries[used] = (struct entry){lists[hash % 64], hash};
    lists[hash % 64] = &entries[used++];
  }
}
#elif defined(THREADS)
static volatile unsigned turn;
static void *race(void *name) {
  for (unsigned k = 0; k < 200; k++) {
    if (turn == (unsigned)(uintptr_t)name)
      sink++;
    else
      turn = (unsigned)(uintptr_t)name;
  }
  return NULL;
}
static void more(const uint8_t *data, size_t size) {
  (void)data, (void)size;
  pthread_t threads[2];
  for (uintptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, race, (void *)i);
  for (unsigned i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
#elif defined(MEMO)
/* Looks at an input only if it is another than the last one. */
static void more(const uint8_t *data, size_t size) { (void)data, (void)size; }
#else
static void more(const uint8_t *data, size_t size) { (void)data, (void)size; }
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
#ifdef MEMO
  static uint8_t last[64];
  static size_t length = 65;
  size_t part = size < sizeof last ? size : sizeof last;
  if (length == size && memcmp(last, data, part) == 0) return 0;
  length = size;
  memcpy(last, data, part);
#endif
  more(data, size);
  sink += branches(data, size);
  return 0;
}

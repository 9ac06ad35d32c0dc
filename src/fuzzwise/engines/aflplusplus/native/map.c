/* The coverage map of AFL++, read after each run.
 *
 * A feature is an edge with a hit-count class: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128-255. */
#include "afl.h"

#include <stdlib.h>
#include <sys/shm.h>

#define MAP_VARIABLE "__AFL_SHM_ID"
#define LOW 0x0101010101010101ull
#define ENOUGH 32 /* runs to be sure from */

static const uint8_t *map;
static uint64_t map_size;
static int attached = -1;
static uint8_t bucket_of[2][256]; /* by enum afl_bytes */
static uint64_t *same[2];         /* per word of the map, one in which all is settled */
static uint64_t *nothing;         /* the same, where none is to be left out */
static uint32_t *looked_at;       /* the words of a run that matter */

void afl_open_map(uint64_t size) {
  map_size = (size + 7) / 8 * 8;
  fw_open_shown(map_size * FW_BUCKETS);
  fw_fill_buckets(bucket_of[AFL_COUNTS]);
  for (unsigned count = 1; count < 256; count++) {
    unsigned highest = 31u - (unsigned)__builtin_clz(count); /* of 1, 2, 4 … 128 */
    bucket_of[AFL_CLASSES][count] = fw_head->species_kind == FW_FEATURE ? (uint8_t)highest : 0;
  }
  for (int bytes = AFL_COUNTS; bytes <= AFL_CLASSES; bytes++) same[bytes] = calloc(map_size, 1);
  nothing = calloc(map_size, 1);
  looked_at = calloc(map_size / 8 + 1, sizeof *looked_at);
  if (!same[AFL_COUNTS] || !same[AFL_CLASSES] || !nothing || !looked_at)
    fw_fail("out of memory", "map");
}

/* AFL++ removes its segments when it ends, but not when it is killed. Removed now, they live as
 * long as somebody is attached, and Linux lets others attach all the same. */
static void remove_at_end(const char *variable) {
  const char *text = getenv(variable);
  if (text && *text >= '0' && *text <= '9') shmctl(atoi(text), IPC_RMID, NULL);
}

/* The variable is set after the library was loaded, and the segment may be made anew. */
void afl_attach(void) {
  const char *text = getenv(MAP_VARIABLE);
  int id = text && *text >= '0' && *text <= '9' ? atoi(text) : -1;
  if (map && id == attached) return;
  if (map) shmdt(map);
  map = id < 0 ? (void *)-1 : shmat(id, NULL, SHM_RDONLY);
  if (map == (void *)-1) fw_fail("cannot attach the coverage map", text ? text : MAP_VARIABLE);
  attached = id;
  remove_at_end(MAP_VARIABLE);
  remove_at_end("__AFL_SHM_FUZZ_ID");
  remove_at_end("__AFL_CMPLOG_SHM_ID");
}

/* After a crash or a timeout AFL++ makes every byte of the map 1 (not hit) or 128 (hit). */
int afl_is_simplified(void) {
  const uint64_t *word = (const uint64_t *)(const void *)map;
  for (uint64_t i = 0; i < map_size / 8; i++)
    if (word[i] & ~(LOW | LOW << 7) || ((word[i] >> 7 ^ word[i]) & LOW) != LOW) return 0;
  return 1;
}

/* What the bytes of a run are that AFL++ has not kept. 4.04c leaves the counts as they are; newer
 * versions, with some schedules, write classes over those of every run. A count that is no power of
 * two is no class; where none comes up in some runs with higher counts, all are classes. */
enum afl_bytes afl_bytes_of_run(void) {
  static enum { UNDECIDED, COUNTS, CLASSES } known;
  static unsigned doubtful;
  int high = 0;
  if (known) return known == CLASSES ? AFL_CLASSES : AFL_COUNTS;
  for (uint64_t at = 0; at < map_size && !known; at++) {
    high |= map[at] >= 4;
    if (map[at] & (map[at] - 1u)) known = COUNTS;
  }
  if (!known && high && ++doubtful == ENOUGH) known = CLASSES;
  return AFL_COUNTS;
}

static inline int is_empty(const uint64_t *w) {
  return !(w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7]);
}

/* The words of the map to look at: neither 0, nor what is known to be settled. Most is 0, in long
 * stretches; most of the rest is as it was in earlier runs. Which is which cannot be foreseen, so
 * that there is no branch on it. */
static size_t find_words(const uint64_t *words, const uint64_t *known) {
  uint64_t all = map_size / 8;
  size_t n = 0;
  for (uint64_t i = 0; i < all; i += 8) {
    if (i + 8 <= all && is_empty(words + i)) continue;
    for (uint64_t j = i; j < i + 8 && j < all; j++) {
      looked_at[n] = (uint32_t)j;
      n += (size_t)(words[j] != 0) & (size_t)(words[j] != known[j]);
    }
  }
  return n;
}

/* List features of the last run; whether any of them is new. */
int afl_read(enum fw_listing which, enum afl_bytes bytes) {
  const uint8_t *buckets = bucket_of[bytes];
  const uint64_t *words = (const uint64_t *)(const void *)map;
  size_t n = find_words(words, which == FW_ALL ? nothing : same[bytes]);
  struct fw_run run = fw_begin_run(which);
  for (size_t i = 0; i < n; i++) {
    uint64_t word = words[looked_at[i]], whole = word;
    int changing = 0;
    while (word) {
      unsigned byte = (unsigned)__builtin_ctzll(word) / 8;
      uint64_t edge = looked_at[i] * 8ull + byte;
      changing |= fw_look(&run, edge, buckets[(uint8_t)(word >> byte * 8)]);
      word &= ~((uint64_t)0xff << byte * 8);
    }
    if (!changing) same[bytes][looked_at[i]] = whole;
  }
  return fw_end_run(&run);
}

/* What AFL++ did not keep a run for is nothing new to it: edges that it found to be unstable, and
 * what a timeout showed. */
void afl_forget_unseen(void) {
  size_t kept = 0;
  for (size_t i = 0; i < fw_n_shown; i++)
    if (fw_feature()[fw_shown[i]] & FW_SEEN) fw_shown[kept++] = fw_shown[i];
  fw_n_shown = kept;
}

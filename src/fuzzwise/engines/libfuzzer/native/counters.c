/* The coverage counters of a target of libFuzzer, read after each run.
 *
 * A feature is a counter with a bucket of hit counts. */
#include "libfuzzer.h"

#include <stdio.h>
#include <string.h>

/* In libFuzzer's runtime its registration of counters has another name, see build.py: it is called
 * through ours. */
void fuzzwise_real_counters_init(uint8_t *start, uint8_t *stop);
void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop);

#define MAX_MODULES 4096
struct fw_module fw_modules[MAX_MODULES];
unsigned fw_n_modules;
static uint64_t total_features;
static uint64_t room; /* features that the state has place for; 0 until it is open */
static uint8_t bucket_of[256];

void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop) {
  fuzzwise_real_counters_init(start, stop);
  if (start == stop || fw_n_modules == MAX_MODULES) return;
  for (unsigned i = 0; i < fw_n_modules; i++)
    if (fw_modules[i].start == start) return;
  if (room && total_features + (uint64_t)(stop - start) * FW_BUCKETS > room) {
    fprintf(stderr, "fuzzwise: more code came in late than there is room to count; "
                    "what it shows is not counted.\n");
    stop = start + (room - total_features) / FW_BUCKETS;
    if (start == stop) return;
  }
  fw_modules[fw_n_modules++] = (struct fw_module){start, stop, total_features};
  total_features += (uint64_t)(stop - start) * FW_BUCKETS;
}

uint64_t fw_known_features(void) { return total_features; }

void fw_open_counters(uint64_t features) {
  room = features;
  fw_open_shown(features);
  fw_fill_buckets(bucket_of);
}

static uint64_t last_path;

/* The path as a species: a slot in a table of hashes. It is a free one until the path is kept. */
static uint64_t path_of(uint64_t hash) {
  const uint64_t *table = (const uint64_t *)(const void *)fw_paths.base;
  uint64_t at = hash & (FW_PATHS - 1);
  while (table[at] && table[at] != hash) at = (at + 1) & (FW_PATHS - 1);
  last_path = hash;
  return at;
}

/* The path of the last run counts: not one that is only measured, or not the same twice. */
void fw_keep_path(void) {
  if (fw_head->species_kind != FW_PATH || !fw_n_shown) return;
  fw_shown[0] = path_of(last_path); /* another job may have taken the slot meanwhile */
  ((uint64_t *)(void *)fw_paths.base)[fw_shown[0]] = last_path;
}

/* Words of the counters that were wiped, to put them back for a discovery. */
static struct wiped {
  uint8_t *where;
  uint64_t word;
  size_t length;
} *wiped;
static size_t n_wiped, wiped_room;

static void wipe(uint8_t *where, uint64_t word, size_t length) {
  if (n_wiped == wiped_room) {
    wiped_room = wiped_room ? wiped_room * 2 : 1 << 12;
    wiped = fw_grow(wiped, wiped_room * sizeof *wiped, "counters");
  }
  wiped[n_wiped++] = (struct wiped){where, word, length};
  memset(where, 0, length);
}

void fw_restore_counters(void) {
  for (size_t i = 0; i < n_wiped; i++) memcpy(wiped[i].where, &wiped[i].word, wiped[i].length);
}

/* Read the counters of the run: list features, say whether any is new, and, on request, wipe the
 * counters so that libFuzzer sees none. */
int fw_read_counters(enum fw_listing which, int hide) {
  struct fw_run run = fw_begin_run(which);
  unsigned kind = fw_head->species_kind;
  uint64_t path = 0xcbf29ce484222325ull;
  n_wiped = 0;
  for (unsigned m = 0; m < fw_n_modules; m++) {
    uint8_t *p = fw_modules[m].start, *stop = fw_modules[m].stop;
    uint64_t first = fw_modules[m].first / FW_BUCKETS;
    while (p < stop) {
      uint64_t word;
      size_t step = 1;
      if (stop - p >= 8 && ((uintptr_t)p & 7) == 0) {
        step = 8;
        word = *(const uint64_t *)(const void *)p;
        if (!word) {
          p += 8;
          /* Most counters are 0, in long stretches: a cache line at a time. */
          while (stop - p >= 64) {
            const uint64_t *w = (const uint64_t *)(const void *)p;
            if (w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7]) break;
            p += 64;
          }
          continue;
        }
      } else {
        word = *p;
      }
      if (hide && word) wipe(p, word, step);
      uint64_t at = (uint64_t)(p - fw_modules[m].start);
      while (word) {
        unsigned byte = (unsigned)__builtin_ctzll(word) / 8;
        uint8_t count = (uint8_t)(word >> byte * 8);
        word &= ~((uint64_t)0xff << byte * 8);
        if (kind == FW_PATH)
          path = (path ^ ((at + byte) * FW_BUCKETS + fw_bucket(count))) * 0x100000001b3ull;
        else
          fw_look(&run, first + at + byte, bucket_of[count]);
      }
      p += step;
    }
  }
  if (kind == FW_PATH) {
    uint64_t slot = path_of(path | 1);
    fw_show(&run, slot, run.features[slot]);
  }
  return fw_end_run(&run);
}

/* Whether the run shows a feature; before its counters are wiped. */
int fw_shows(uint64_t feature) {
  unsigned m = fw_n_modules - 1;
  while (fw_modules[m].first > feature) m--;
  uint8_t count = fw_modules[m].start[(feature - fw_modules[m].first) / FW_BUCKETS];
  return count && (fw_head->species_kind != FW_FEATURE || fw_bucket(count) == feature % FW_BUCKETS);
}

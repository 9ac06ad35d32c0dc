/* The same input another time.
 *
 * An input that looks new runs again. What only one of the two runs shows says nothing about the
 * input: random numbers, the clock, threads, or what the target remembers of earlier inputs. Its
 * edges are unstable from then on, see FW_UNSTABLE, and make nothing look new any more. */
#define _GNU_SOURCE
#include "libfuzzer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHARE 4     /* an input may take that share of its time limit, and be run again */
#define TOGETHER 16 /* runs that are timed at once */

int fw_again;
uint64_t *fw_differing;
size_t fw_n_differing;
int fw_differed, fw_first_sight;

static uint8_t *first, *second, *third; /* the counters of runs */
static uint64_t room;
static uint64_t limit_ms, started_ms;

/* Of all targets, libFuzzer's limit is the last word that names one; it is for both runs at once. */
void fw_open_again(uint64_t counters, int argc, char **argv) {
  static const char option[] = "-timeout=";
  limit_ms = 1200 * 1000; /* libFuzzer's default */
  for (int i = 1; i < argc; i++)
    if (strncmp(argv[i], option, sizeof option - 1) == 0)
      limit_ms = strtoull(argv[i] + sizeof option - 1, NULL, 10) * 1000;
  room = (counters + 7) / 8 * 8;
  uint8_t **copies[] = {&first, &second, &third};
  for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
    if (!(*copies[i] = calloc(room + 1, 1))) fw_fail("out of memory", "counters");
  fw_differing = calloc(room + 1, sizeof *fw_differing);
  if (!fw_differing) fw_fail("out of memory", "counters");
}

/* Exact to some milliseconds, and cheap. */
static uint64_t clock_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Before every run. Fast ones are timed together: what some of them take is a bound for each. */
void fw_time_run(void) {
  static unsigned untimed;
  if (untimed--) return;
  uint64_t now = clock_ms();
  untimed = (now - started_ms) * TOGETHER * SHARE > limit_ms ? 0 : TOGETHER - 1;
  started_ms = now;
}

/* Whether there is time for it: an input that is slow, but not too slow, must not become a timeout
 * because it is run twice. */
int fw_may_run_again(void) {
  return limit_ms == 0 || (clock_ms() - started_ms) * SHARE <= limit_ms;
}

static void take(uint8_t *copy) {
  for (unsigned m = 0; m < fw_n_modules; m++)
    memcpy(copy + fw_modules[m].first / FW_BUCKETS, fw_modules[m].start,
           (size_t)(fw_modules[m].stop - fw_modules[m].start));
}

static void put_back(const uint8_t *copy) {
  for (unsigned m = 0; m < fw_n_modules; m++)
    memcpy(fw_modules[m].start, copy + fw_modules[m].first / FW_BUCKETS,
           (size_t)(fw_modules[m].stop - fw_modules[m].start));
}

void fw_clear_counters(void) {
  for (unsigned m = 0; m < fw_n_modules; m++)
    memset(fw_modules[m].start, 0, (size_t)(fw_modules[m].stop - fw_modules[m].start));
}

static int is_same(uint8_t one, uint8_t other) {
  if (!one || !other) return one == other;
  return fw_head->species_kind == FW_EDGE || fw_bucket(one) == fw_bucket(other);
}

/* The edges that two runs showed otherwise, in their order; those that are known to be unstable are
 * left out, but where paths are the species, which consist of all. */
static void compare(const uint8_t *one, const uint8_t *other) {
  int paths = fw_head->species_kind == FW_PATH;
  fw_n_differing = 0;
  fw_differed = fw_first_sight = 0;
  for (uint64_t at = 0; at < room; at += 8) {
    if (memcmp(one + at, other + at, 8) == 0) continue;
    for (uint64_t edge = at; edge < at + 8; edge++) {
      if (is_same(one[edge], other[edge])) continue;
      uint64_t known = 0;
      fw_differed = 1;
      if (paths) return;
      memcpy(&known, fw_feature() + edge * FW_BUCKETS, sizeof known);
      if ((uint8_t)known & FW_UNSTABLE) continue;
      fw_differing[fw_n_differing++] = edge;
      fw_first_sight |= !known && one[edge];
    }
  }
}

/* Leave what differed out of the list of what the run showed; whether anything in it is new. Both
 * lists are in the order of the edges. */
static int keep_the_same(void) {
  size_t kept = 0, next = 0;
  int anything_new = 0;
  if (fw_head->species_kind == FW_PATH && fw_differed) fw_n_shown = 0;
  for (size_t i = 0; i < fw_n_shown; i++) {
    uint64_t edge = fw_shown[i] / FW_BUCKETS;
    if (fw_head->species_kind != FW_PATH) {
      while (next < fw_n_differing && fw_differing[next] < edge) next++;
      if (next < fw_n_differing && fw_differing[next] == edge) continue;
    }
    anything_new |= !(fw_feature()[fw_shown[i]] & (FW_SEEN | FW_UNSTABLE));
    fw_shown[kept++] = fw_shown[i];
  }
  fw_n_shown = kept;
  return anything_new;
}

static void run(const uint8_t *data, size_t size, uint8_t *copy) {
  fw_clear_counters();
  memset(copy, 0, room);
  fw_again = 1;
  fw_run_target(data, size);
  fw_again = 0;
  fw_head->executed++;
  take(copy);
}

/* Run the input again whose counters are there, and are there afterwards; whether what it showed in
 * both runs has anything new. The very first input of a process is run twice more, and these two are
 * compared: what it shows because the target sets itself up is none of its instability. */
int fw_same_again(const uint8_t *data, size_t size, int is_first) {
  memset(first, 0, room);
  take(first);
  run(data, size, second);
  if (!fw_failed && is_first) {
    run(data, size, third);
    compare(second, third);
  } else {
    compare(first, second);
  }
  put_back(first);
  return keep_the_same();
}

/* A main for afl-fuzz that measures the discovery probability of the campaign it takes part in.

   Linked to a harness with LLVMFuzzerTestOneInput and to a library built by afl-clang-fast, in place of
   AFL++'s own driver; afl-fuzz is not changed. After each run the coverage map is compared with all
   that the queue has shown so far, in the classes of hit counts that afl-fuzz uses. After a chosen
   number of mutated inputs the campaign is frozen: a run that shows something new is counted, and
   then its map is emptied, so that afl-fuzz goes on from the queue as it was. The share of such
   runs is the truth.

   This file must be compiled without instrumentation, or its own branches were coverage. */
#include "afl_truth.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RUNS_PER_PROCESS = 10000, HOLD_MICROSECONDS = 500000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Of AFL++'s runtime. */
extern uint8_t *__afl_area_ptr;
extern uint32_t __afl_map_size;
extern uint8_t *__afl_fuzz_ptr;
extern uint32_t *__afl_fuzz_len;
int __afl_persistent_loop(unsigned runs);
int __afl_sharedmem_fuzzing = 1;
/* afl-fuzz looks for this text in the program. */
__attribute__((used)) static const char persistent[] = "##SIG_AFL_PERSISTENT##";

static uint8_t class_of[256];

static void fill_classes(void) {
  static const int first[] = {1, 2, 3, 4, 8, 16, 32, 128, 256};
  for (int class = 0; class < 8; class ++)
    for (int count = first[class]; count < first[class + 1]; count++)
      class_of[count] = (uint8_t)(1 << class);
}

/* Call DO with the index i and class c of each map byte that is not 0. */
#define EACH_BYTE(DO)                                                       \
  for (uint64_t word = 0; word < map_size; word += 8) {                     \
    uint64_t eight;                                                         \
    memcpy(&eight, __afl_area_ptr + word, 8);                               \
    if (!eight) continue;                                                   \
    for (uint64_t i = word; i < word + 8; i++) {                            \
      uint8_t c = class_of[__afl_area_ptr[i]];                              \
      if (c) { DO; }                                                        \
    }                                                                       \
  }

static uint64_t map_size;

static int shows_new(const struct record *record) {
  EACH_BYTE(if (c & ~record->seen[i]) return 1)
  return 0;
}

static uint64_t trace_hash(void) {
  uint64_t hash = 0xcbf29ce484222325;
  EACH_BYTE(hash = (hash ^ (i << 8 | c)) * 0x100000001b3)
  return hash;
}

static void mark_seen(struct record *record) { EACH_BYTE(record->seen[i] |= c) }

static void keep_first_run(struct record *record) {
  memset(record->first_run, 0, map_size);
  EACH_BYTE(record->first_run[i] = c)
}

static void hide_run(void) {
  memset(__afl_area_ptr, 0, map_size);
  __afl_area_ptr[0] = 1;
}

static void count_hit(struct record *record) {
  uint64_t number = record->hits++;
  if (number < MOST_HITS) record->hit_log[number] = (uint32_t)record->frozen_inputs;
}

/* As afl-fuzz does it: a map byte that differs between runs of one input counts as seen for ever. */
static void compare_with_first_run(struct record *record) {
  for (uint64_t i = 0; i < map_size; i++) {
    if (class_of[__afl_area_ptr[i]] == record->first_run[i] || record->seen[i] == 0xff) continue;
    record->seen[i] = 0xff;
    record->variable++;
  }
}

static enum kind kind_of(struct record *record, const uint8_t *data, uint64_t length) {
  int same = length == record->previous_length && !memcmp(data, record->previous, length);
  if (same && (record->calibrating || record->awaiting)) return REPEAT;
  if (record->seeds_seen < record->seeds) return SEED;
  return is_trial(record, data, length) ? TRIM : MUTATED;
}

/* Settle the run before: what showed something new was added to the queue if and only if afl-fuzz
   now runs it again, to calibrate it. */
static void settle_previous(struct record *record, enum kind kind) {
  if (record->awaiting && kind == REPEAT) {
    record->calibrating = 1;
    uint64_t number = record->discoveries++;
    if (number < MOST_DISCOVERIES) {
      record->log[number][0] = record->executions;
      record->log[number][1] = record->kinds[MUTATED];
    }
    for (uint64_t i = 0; i < map_size; i++) record->seen[i] |= record->first_run[i];
    entry_added(record, record->previous, record->previous_length, record->awaited_trace);
  } else if (record->awaiting) {
    record->unconfirmed++;
  }
  record->awaiting = 0;
  if (kind != REPEAT) record->calibrating = 0;
  if (record->running) record->unfinished++;
}

static void before_run(struct record *record, enum kind kind, const uint8_t *data,
                       uint64_t length) {
  settle_previous(record, kind);
  if (kind == MUTATED && record->phase == CAMPAIGN &&
      record->kinds[MUTATED] == record->freeze_at) {
    record->phase = FROZEN;
    record->at_freeze = record->executions;
  }
  record->executions++;
  if (record->phase == CAMPAIGN) record->kinds[kind]++;
  if (record->phase == FROZEN) {
    record->frozen_executions++;
    if (kind == MUTATED) record->frozen_inputs++;
  }
  memcpy(record->previous, data, length);
  record->previous_length = length;
  record->running = 1;
}

static void after_run(struct record *record, enum kind kind) {
  record->running = 0;
  int new = shows_new(record);
  if (kind == TRIM) trial_ran(record, trace_hash());
  if (kind == SEED) {
    record->seeds_seen++;
    record->calibrating = 1;
    keep_first_run(record);
    entry_added(record, record->previous, record->previous_length, trace_hash());
    mark_seen(record);
  } else if (kind == REPEAT) {
    mark_seen(record);
    compare_with_first_run(record);
  } else if (record->phase != CAMPAIGN) {
    if (new) {
      if (kind == MUTATED && record->phase == FROZEN) count_hit(record);
      hide_run();
    }
    if (record->frozen_inputs >= record->truth_inputs) record->phase = DONE;
  } else if (new && kind == MUTATED) {
    keep_first_run(record);
    record->awaiting = 1;
    record->awaited_trace = trace_hash();
  }
}

static struct record *open_record(void) {
  const char *path = getenv("FUZZWISE_TRUTH");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0 || ftruncate(file, sizeof(struct record))) {
    fprintf(stderr, "FUZZWISE_TRUTH must name a file that can be written.\n");
    exit(1);
  }
  void *memory = mmap(NULL, sizeof(struct record), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) {
    perror("FUZZWISE_TRUTH");
    exit(1);
  }
  return memory;
}

int main(int argc, char **argv) {
  static uint8_t data[INPUT_BYTES];
  struct record *record = open_record();
  fill_classes();
  map_size = ((uint64_t)__afl_map_size + 7) & ~(uint64_t)7;
  if (map_size > MAP_BYTES) {
    fprintf(stderr, "The coverage map is larger than this driver can hold.\n");
    return 1;
  }
  record->map_size = map_size;
  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
  while (__afl_persistent_loop(RUNS_PER_PROCESS)) {
    uint64_t length = *__afl_fuzz_len < INPUT_BYTES ? *__afl_fuzz_len : INPUT_BYTES;
    memcpy(data, __afl_fuzz_ptr, length);
    /* All is measured: hardly anything more is to happen until afl-fuzz is stopped. */
    if (record->phase == DONE) usleep(HOLD_MICROSECONDS);
    enum kind kind = kind_of(record, data, length);
    before_run(record, kind, data, length);
    LLVMFuzzerTestOneInput(data, length);
    after_run(record, kind);
  }
  return 0;
}

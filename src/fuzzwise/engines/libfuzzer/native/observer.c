/* Stock libFuzzer, started by us: it stays the mutator, the watchdog and the writer of artifacts;
 * which seed is mutated, and what every input showed, is decided and counted here. */
#include "libfuzzer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                                                     unsigned int seed);
/* In libFuzzer's runtime the mutator has another name, see build.py: it calls ours in place of the
 * target's. */
size_t fuzzwise_mutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
extern __thread uintptr_t __sancov_lowest_stack;

fw_mutator_type fw_mutator; /* the target's own, if it has one */
int fw_failed;
static fw_input_type target;
static int from_mutator, in_child;
static uint64_t random_state;

/* Of a measurement that ended with its last discovery, that one is left out: the share of the others
 * is right on average, whereas with it, the share would be too high. */
static void measurement_done(void) {
  uint64_t early = fw_head->measure_left > 0;
  fw_log_point(1, fw_head->measure_found - early,
               fw_head->measure_size - fw_head->measure_left - early);
  fw_head->measure_size = fw_head->measure_left = 0;
}

static int is_measured(void) {
  uint64_t enough = fw_setting("FUZZWISE_MEASURE_FOUND", 0);
  return !fw_head->measure_left || (enough && fw_head->measure_found >= enough);
}

static void point_reached(void) {
  fw_lock();
  if (fw_head->inputs >= fw_head->next_point) {
    if (fw_head->measure && !fw_head->measure_left && fw_head->measure_size == 0) {
      fw_head->measure_found = 0;
      fw_head->measure_size = fw_setting("FUZZWISE_MEASURE_INPUTS", fw_head->inputs);
      fw_head->measure_left = fw_head->measure_size;
    } else if (!fw_head->measure) {
      fw_log_point(0, 0, 0);
    }
  }
  fw_unlock();
}

/* A target that forks: its child must not count, nor go on fuzzing. */
static void in_forked_child(void) {
  in_child = 1;
  fw_head = NULL;
}

static void open_state(int argc, char **argv) {
  const char *folder = getenv("FUZZWISE_STATE");
  if (!folder || !*folder) {
    fprintf(stderr, "fuzzwise: this target is run by `fuzzwise fuzz`; "
                    "on its own it fuzzes without counting.\n");
    return;
  }
  /* Code that comes in while the target runs gets counters then; the state has room for them. */
  const char *late = getenv("FUZZWISE_ROOM");
  uint64_t expected = late ? strtoull(late, NULL, 10) * FW_BUCKETS : fw_known_features();
  if (!expected) {
    fprintf(stderr, "fuzzwise: the target has no coverage counters. Build it with "
                    "`fuzzwise build` or CC=\"fuzzwise cc\".\n");
    _exit(FW_EXIT_STATE);
  }
  fw_die_with_supervisor();
  pthread_atfork(NULL, NULL, in_forked_child);
  fw_open(folder);
  int paths = fw_head->species_kind == FW_PATH;
  if (late && !fw_fresh_state && !paths) expected = fw_head->features;
  fw_make_room(paths ? FW_PATHS : expected);
  if (paths) fw_need(&fw_paths, FW_PATHS * sizeof(uint64_t));
  fw_open_counters(expected);
  fw_open_again(expected / FW_BUCKETS, argc, argv);
  fw_open_lengths();
  fw_ready();
  /* The input that completed a data point, or its measurement, may have ended the process. */
  fw_lock();
  if (fw_head->measure_size && !fw_head->measure_left) measurement_done();
  fw_unlock();
  if (fw_head->inputs >= fw_head->next_point) point_reached();
  fw_head->slots[fw_job] = (struct fw_slot){.state = FW_IDLE, .pid = (uint32_t)getpid()};
}

/* Whether a smaller input shows everything its seed was kept for, as far as that is stable. */
static int can_replace(uint64_t t, size_t size) {
  const struct fw_seed *s = fw_seed(t);
  int stable = 0;
  if (fw_head->schedule == FW_OBSERVE || fw_head->species_kind == FW_PATH) return 0;
  if (size >= s->size || !size || s->owned_count == 0 || s->owned_count >= 4096) return 0;
  const uint64_t *owned = (const uint64_t *)(const void *)(fw_data.base + s->owned);
  for (uint64_t i = 0; i < s->owned_count; i++) {
    if (fw_feature()[owned[i]] & FW_UNSTABLE) continue;
    if (!fw_shows(owned[i])) return 0;
    stable = 1;
  }
  return stable;
}

static void replace_seed(uint64_t t, const uint8_t *data, size_t size) {
  fw_lock();
  struct fw_seed *s = fw_seed(t);
  uint64_t where = fw_head->data_used;
  fw_need(&fw_data, where + size + 8);
  memcpy(fw_data.base + where, data, size);
  fw_head->data_used = where + (size + 7) / 8 * 8;
  s->size = size; /* before `where`: until then the old bytes are read, cut shorter */
  s->hash = fw_hash(data, size);
  __atomic_store_n(&s->where, where, __ATOMIC_RELEASE);
  fw_head->replaced++;
  fw_unlock();
}

/* An input that showed a bug, in a target that lives on: it counts as one that ends its process,
 * whatever it showed, and becomes no seed. */
static void discard(int mutated) {
  struct fw_slot *slot = &fw_head->slots[fw_job];
  if (!mutated) return;
  __atomic_add_fetch(&fw_head->lost, 1, __ATOMIC_ACQ_REL);
  fw_read_counters(FW_UNSEEN, 1);
  if (slot->measuring) {
    fw_lock();
    if (fw_head->measure_left && --fw_head->measure_left == 0) measurement_done();
    slot->state = FW_IDLE;
    fw_unlock();
    return;
  }
  slot->state = FW_COUNTING;
  if (fw_count_input(NULL, 0, NULL, 0)) point_reached();
}

static void keep_initial(const uint8_t *data, size_t size) {
  static int is_first = 1;
  int was_first = is_first, again = fw_may_run_again();
  is_first = 0;
  if (!fw_read_counters(FW_UNSEEN, 0)) return;
  if (again) fw_same_again(data, size, was_first);
  if (fw_failed) return;
  fw_lock();
  fw_keep_path();
  fw_keep_initial(fw_shown, fw_n_shown, data, size, again && fw_first_sight);
  if (again) fw_count_rerun(fw_differing, fw_n_differing, fw_differed);
  fw_unlock();
}

/* An input of a measurement of the truth: nothing is counted but whether it would be a discovery. */
static void measure(const uint8_t *data, size_t size) {
  struct fw_slot *slot = &fw_head->slots[fw_job];
  int found = fw_read_counters(FW_UNSEEN, 1);
  if (found && fw_may_run_again()) {
    fw_restore_counters();
    found = fw_same_again(data, size, 0);
    fw_clear_counters();
    if (fw_failed) return;
  }
  fw_lock();
  if (fw_head->measure_left) { /* else another job has made the last one */
    fw_head->measure_found += (uint64_t)found;
    fw_head->measure_left--;
    if (found || !fw_head->measure_left)
      if (is_measured()) measurement_done();
  }
  slot->state = FW_IDLE;
  fw_unlock();
}

/* An input looks like a discovery: leave in the list what it shows again. One that is none, but was
 * the first to show some edge, is to be kept as a seed all the same: it may lead to others. What is
 * neither is hidden from libFuzzer, unless it chooses the seeds. */
static int confirm(const uint8_t *data, size_t size) {
  int ours = fw_head->schedule != FW_OBSERVE;
  if (ours) fw_restore_counters();
  if (!fw_may_run_again()) return 0;
  int discovered = fw_same_again(data, size, 0);
  if (fw_failed) return 0;
  fw_lock();
  fw_count_rerun(fw_differing, fw_n_differing, fw_differed);
  fw_unlock();
  if (ours && !discovered && !fw_first_sight) fw_clear_counters();
  return !discovered && fw_first_sight;
}

static void count(const uint8_t *data, size_t size) {
  struct fw_slot *slot = &fw_head->slots[fw_job];
  int ours = fw_head->schedule != FW_OBSERVE, keep = 0;
  int is_smaller = can_replace(slot->seed, size);
  if (fw_read_counters(fw_head->per_seed ? FW_ALL : FW_CHANGING, ours)) keep = confirm(data, size);
  if (fw_failed) return;
  slot->state = FW_COUNTING;
  if (is_smaller) replace_seed(slot->seed, data, size);
  fw_keep_path();
  int at_point = fw_count_input(fw_shown, fw_n_shown, data, size);
  if (keep) {
    fw_lock();
    fw_add_seed(data, size, NULL, 0);
    fw_unlock();
  }
  if (at_point) point_reached();
}

static void observe(const uint8_t *data, size_t size, int mutated) {
  if (!mutated)
    keep_initial(data, size);
  else if (fw_head->slots[fw_job].measuring)
    measure(data, size);
  else
    count(data, size);
}

int fw_run_target(const uint8_t *data, size_t size) {
  int result = target(data, size);
  if (in_child) _exit(0);
  return result;
}

static int one_input(const uint8_t *data, size_t size) {
  uintptr_t lowest = __sancov_lowest_stack;
  fw_save_reports();
  if (fw_head) fw_time_run();
  int result = fw_run_target(data, size);
  if (fw_head) {
    fw_head->executed++;
    if (!fw_failed) observe(data, size, from_mutator);
    if (fw_failed) discard(from_mutator); /* also where only its second run shows a bug */
    /* No feature for the depth of the stack: what libFuzzer keeps is what we call a discovery. */
    __sancov_lowest_stack = lowest;
    from_mutator = fw_failed = 0;
  }
  return result;
}

static uint64_t next_random(void) {
  uint64_t z = (random_state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/* The target's own mutator if it has one, else libFuzzer's. */
static size_t mutate(uint8_t *data, size_t size, size_t max_size) {
  if (fw_mutator) return fw_mutator(data, size, max_size, (unsigned)next_random());
  return LLVMFuzzerMutate(data, size, max_size);
}

/* What the input before this one took, from the choice of its seed on. Those of a measurement do not
 * count: the weights stay as they are. */
static void time_input(void) {
  static uint64_t began;
  const struct fw_slot *slot = &fw_head->slots[fw_job];
  uint64_t now = fw_nanoseconds();
  if (began && !slot->measuring) fw_add_time(slot->seed, now - began);
  began = now;
}

static size_t mutate_ours(uint8_t *data, size_t max_size) {
  time_input();
  uint64_t random = next_random();
  uint64_t t = fw_choose(random);
  const struct fw_seed *s = fw_seed(t);
  size_t size = s->size < max_size ? s->size : max_size;
  memcpy(data, fw_data.base + s->where, size);
  unsigned times = fw_mutator ? 1 : 1 + (unsigned)(next_random() & 1);
  if (!fw_mutator) max_size = fw_longest(t, max_size, next_random());
  for (unsigned i = 0; i < times; i++) {
    size_t changed = mutate(data, size, max_size);
    if (changed) size = changed;
  }
  fw_begin_input(t);
  return size;
}

/* libFuzzer chose the unit; stacked mutations hand us our own last output. */
static size_t mutate_theirs(uint8_t *data, size_t size, size_t max_size) {
  static uint64_t last_hash, last_seed;
  static size_t last_size;
  uint64_t sample = fw_hash(data, size < 16 ? size : 16);
  if (size != last_size || sample != last_hash) last_seed = fw_recognise(data, size);
  size_t changed = mutate(data, size, max_size);
  last_size = changed;
  last_hash = fw_hash(data, changed < 16 ? changed : 16);
  fw_begin_input(last_seed);
  return changed;
}

size_t fuzzwise_mutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  if (!fw_head) return mutate(data, size, max_size);
  if (!random_state) random_state = ((uint64_t)seed << 32 | seed) ^ 0x5851f42d4c957f2dull;
  if (fw_head->stop || (fw_head->max_inputs && fw_head->inputs >= fw_head->max_inputs &&
                        !fw_head->measure_left))
    _exit(0);
  if (fw_head->seeds == 0) {
    static const uint8_t newline = '\n';
    fw_lock();
    if (fw_head->seeds == 0) fw_add_seed(&newline, 1, NULL, 0);
    fw_unlock();
  }
  from_mutator = 1;
  return fw_head->schedule == FW_OBSERVE ? mutate_theirs(data, size, max_size)
                                         : mutate_ours(data, max_size);
}

int fw_drive(fw_driver_type driver, int *argc, char ***argv, fw_input_type one) {
  target = one;
  fw_keep_reports();
  if (!fw_mutator) fw_mutator = LLVMFuzzerCustomMutator;
  open_state(*argc, *argv);
  return driver(argc, argv, one_input);
}

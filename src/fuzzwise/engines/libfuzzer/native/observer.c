/* Stock libFuzzer, started by us: it stays the mutator, the watchdog and the writer of artifacts;
 * which seed is mutated, and what every input showed, is decided and counted here. */
#include "observer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                                                     unsigned int seed);
/* In libFuzzer's runtime two names are changed when the engine library is made, see build.py: it
 * calls our mutator in place of the target's, and its registration of counters through ours. */
size_t fuzzwise_mutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
void fuzzwise_real_counters_init(uint8_t *start, uint8_t *stop);
void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop);
extern __thread uintptr_t __sancov_lowest_stack;

fw_mutator_type fw_mutator; /* the target's own, if it has one */
int fw_failed;
static fw_input_type target;

#define MAX_MODULES 4096
struct fw_module fw_modules[MAX_MODULES];
unsigned fw_n_modules;
static uint64_t total_features;
static uint64_t room; /* features that the state has place for; 0 until it is open */

static uint64_t *shown;
static size_t n_shown, shown_room;
static int from_mutator, hiding, in_child;
static uint64_t random_state;

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

/* A hit count as libFuzzer sees it: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128-255. */
static unsigned bucket(uint8_t count) {
  if (count >= 128) return 7;
  if (count >= 32) return 6;
  if (count >= 16) return 5;
  if (count >= 8) return 4;
  if (count >= 4) return 3;
  return count - 1u;
}

/* The same for all counts, as a table: no branch to mispredict on every counter of every run. In
 * edge and path mode all counts fall into one. */
static uint8_t bucket_of[256];

/* For each counter, the buckets whose count cannot change any more: nothing to do for these. */
static uint8_t *settled;

static void prepare_buckets(void) {
  for (unsigned count = 1; count < 256; count++)
    bucket_of[count] = fw_head->species_kind == FW_FEATURE ? (uint8_t)bucket((uint8_t)count) : 0;
  settled = calloc(room / FW_BUCKETS + 8, 1);
  if (!settled) fw_fail("out of memory", "features");
}

static void show(uint64_t feature) {
  if (n_shown == shown_room) {
    shown_room = shown_room ? shown_room * 2 : 1 << 12;
    shown = realloc(shown, shown_room * sizeof *shown);
    if (!shown) fw_fail("out of memory", "features");
  }
  shown[n_shown++] = feature;
}

#define PATH_SLOTS ((uint64_t)1 << 22)

/* The path as a species: a slot in a table of hashes. */
static uint64_t path_of(uint64_t hash) {
  uint64_t *table = (uint64_t *)fw_paths.base;
  for (uint64_t at = hash & (PATH_SLOTS - 1);; at = (at + 1) & (PATH_SLOTS - 1)) {
    if (table[at] == hash) return at;
    if (!table[at]) {
      if (!hiding) table[at] = hash;
      return at;
    }
  }
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
    wiped = realloc(wiped, wiped_room * sizeof *wiped);
    if (!wiped) fw_fail("out of memory", "counters");
  }
  wiped[n_wiped++] = (struct wiped){where, word, length};
  memset(where, 0, length);
}

static void restore_counters(void) {
  for (size_t i = 0; i < n_wiped; i++) memcpy(wiped[i].where, &wiped[i].word, wiped[i].length);
}

/* Which features of a run to list: those whose count can still change, all of them (where local
 * counts are kept), or only those that nothing has shown yet (where nothing is counted). */
enum listing { CHANGING, ALL, UNSEEN };

/* Read the counters of the run: list features, say whether any is new, and, on request, wipe the
 * counters so that libFuzzer sees none. */
static int read_counters(enum listing which, int hide) {
  const uint8_t *features = fw_feature();
  unsigned kind = fw_head->species_kind;
  uint64_t path = 0xcbf29ce484222325ull;
  int anything_new = 0;
  n_shown = n_wiped = 0;
  for (unsigned m = 0; m < fw_n_modules; m++) {
    uint8_t *p = fw_modules[m].start, *stop = fw_modules[m].stop;
    uint8_t *done = settled + fw_modules[m].first / FW_BUCKETS;
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
      size_t at = (size_t)(p - fw_modules[m].start);
      while (word) {
        unsigned byte = (unsigned)__builtin_ctzll(word) / 8;
        uint8_t count = (uint8_t)(word >> byte * 8);
        unsigned b = bucket_of[count];
        word &= ~((uint64_t)0xff << byte * 8);
        if (kind == FW_PATH) {
          path = (path ^ ((at + byte) * FW_BUCKETS + bucket(count))) * 0x100000001b3ull;
          continue;
        }
        if (which != ALL && done[at + byte] >> b & 1) continue;
        uint64_t feature = fw_modules[m].first + (at + byte) * FW_BUCKETS + b;
        uint8_t state = features[feature];
        if (state == (FW_SEEN | FW_MANY)) {
          done[at + byte] = (uint8_t)(done[at + byte] | 1u << b);
          if (which != ALL) continue;
        }
        if (which == UNSEEN && state & FW_SEEN) continue;
        anything_new |= !(state & FW_SEEN);
        show(feature);
      }
      p += step;
    }
  }
  if (kind == FW_PATH) {
    uint64_t slot = path_of(path | 1);
    anything_new = !(features[slot] & FW_SEEN);
    show(slot);
  }
  return anything_new;
}

static void measurement_done(void) {
  fw_log_point(1, fw_head->measure_found, fw_head->measure_size);
  fw_head->measure_size = 0;
  while (fw_head->next_point <= fw_head->inputs) fw_head->next_point *= 2;
}

static void point_reached(void) {
  fw_lock();
  if (fw_head->inputs >= fw_head->next_point) {
    if (fw_head->measure && !fw_head->measure_left && fw_head->measure_size == 0) {
      fw_head->measure_found = 0;
      fw_head->measure_size = fw_head->inputs;
      fw_head->measure_left = fw_head->inputs;
    } else if (!fw_head->measure) {
      fw_log_point(0, 0, 0);
      while (fw_head->next_point <= fw_head->inputs) fw_head->next_point *= 2;
    }
  }
  fw_unlock();
}

/* A target that forks: its child must not count, nor go on fuzzing. */
static void in_forked_child(void) {
  in_child = 1;
  fw_head = NULL;
}

/* Nobody would stop us, or count what we do, without the supervisor. */
void fw_die_with_supervisor(void) {
  const char *parent = getenv("FUZZWISE_PARENT");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (parent && atoi(parent) != getppid()) _exit(FW_EXIT_STATE);
}

static void open_state(void) {
  const char *folder = getenv("FUZZWISE_STATE");
  if (!folder || !*folder) {
    fprintf(stderr, "fuzzwise: this target is run by `fuzzwise fuzz`; "
                    "on its own it fuzzes without counting.\n");
    return;
  }
  /* Code that comes in while the target runs gets counters then; the state has room for them. */
  const char *late = getenv("FUZZWISE_ROOM");
  uint64_t expected = late ? strtoull(late, NULL, 10) * FW_BUCKETS : total_features;
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
  uint64_t space = paths ? PATH_SLOTS : expected;
  if (!fw_fresh_state && fw_head->features != space) {
    fprintf(stderr, "fuzzwise: the state belongs to another build of the target.\n");
    _exit(FW_EXIT_STATE);
  }
  fw_need(&fw_features, space);
  fw_need(&fw_holder_of, space * sizeof(uint32_t));
  if (paths) fw_need(&fw_paths, PATH_SLOTS * sizeof(uint64_t));
  if (fw_head->per_seed) fw_need(&fw_windows, space * 3 * sizeof(uint32_t));
  fw_head->features = space;
  room = expected;
  prepare_buckets();
  if (fw_fresh_state) {
    memset(fw_head->window_generation, 0, sizeof fw_head->window_generation);
    for (int w = 0; w < FW_WINDOWS; w++) fw_head->window_generation[w] = 1;
    __atomic_store_n(&fw_head->magic, FW_MAGIC, __ATOMIC_RELEASE);
  } else if (getenv("FUZZWISE_FIRST") == NULL || atoi(getenv("FUZZWISE_FIRST"))) {
    fw_recover();
  } else {
    fw_recover_slot(fw_job);
  }
  /* The input that completed a data point, or its measurement, may have ended the process. */
  fw_lock();
  if (fw_head->measure_size && !fw_head->measure_left) measurement_done();
  fw_unlock();
  if (fw_head->inputs >= fw_head->next_point) point_reached();
  fw_head->slots[fw_job] = (struct fw_slot){.state = FW_IDLE, .pid = (uint32_t)getpid()};
}

/* A smaller input that shows everything its seed was kept for takes the seed's place. */
static void shrink_seed(uint64_t t, const uint8_t *data, size_t size) {
  struct fw_seed *s = fw_seed(t);
  if (size >= s->size || !size || s->owned_count == 0 || s->owned_count >= 4096) return;
  const uint64_t *owned = (const uint64_t *)(const void *)(fw_data.base + s->owned);
  for (uint64_t i = 0; i < s->owned_count; i++) {
    uint64_t feature = owned[i];
    unsigned m = fw_n_modules - 1;
    while (fw_modules[m].first > feature) m--;
    uint8_t count = fw_modules[m].start[(feature - fw_modules[m].first) / FW_BUCKETS];
    unsigned wanted = feature % FW_BUCKETS;
    if (!count || (fw_head->species_kind == FW_FEATURE && bucket(count) != wanted)) return;
  }
  fw_lock();
  s = fw_seed(t);
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

static void observe(const uint8_t *data, size_t size, int mutated) {
  struct fw_slot *slot = &fw_head->slots[fw_job];
  int ours = fw_head->schedule != FW_OBSERVE;
  fw_head->executed++;
  if (!mutated) {
    hiding = 0;
    if (read_counters(UNSEEN, 0) || fw_head->seeds == 0) {
      uint64_t hash = fw_hash(data, size);
      fw_lock();
      int known = 0;
      for (uint64_t t = 0; t < fw_head->seeds && !known; t++) known = fw_seed(t)->hash == hash;
      if (known)
        fw_mark_seen(shown, n_shown);
      else
        fw_keep_initial(shown, n_shown, data, size);
      fw_unlock();
    }
    return;
  }
  uint64_t seed = slot->seed;
  hiding = (int)slot->measuring;
  if (slot->measuring) {
    int found = read_counters(UNSEEN, 1);
    fw_lock();
    if (fw_head->measure_left) { /* else another job has made the last one */
      fw_head->measure_found += (uint64_t)found;
      if (--fw_head->measure_left == 0) measurement_done();
    }
    slot->state = FW_IDLE;
    fw_unlock();
    return;
  }
  slot->state = FW_COUNTING;
  if (ours && fw_head->species_kind != FW_PATH) shrink_seed(seed, data, size);
  int discovered = read_counters(fw_head->per_seed ? ALL : CHANGING, ours);
  if (ours && discovered) restore_counters();
  uint64_t number = __atomic_add_fetch(&fw_head->inputs, 1, __ATOMIC_ACQ_REL);
  if (fw_jobs == 1)
    fw_seed(seed)->inputs = slot->seed_inputs + 1;
  else
    __atomic_add_fetch(&fw_seed(seed)->inputs, 1, __ATOMIC_ACQ_REL);
  if (n_shown) {
    fw_lock();
    if (fw_head->per_seed) fw_count_local(seed, shown, n_shown);
    fw_count(number, seed, shown, n_shown, data, size);
    fw_unlock();
  }
  slot->state = FW_IDLE;
  if (number >= fw_head->next_point) point_reached();
}

/* An input that showed a bug, in a target that lives on: it counts as one that ends its process,
 * whatever it showed, and becomes no seed. */
static void discard(int mutated) {
  struct fw_slot *slot = &fw_head->slots[fw_job];
  fw_head->executed++;
  if (!mutated) return;
  __atomic_add_fetch(&fw_head->lost, 1, __ATOMIC_ACQ_REL);
  hiding = 1;
  read_counters(UNSEEN, 1);
  if (slot->measuring) {
    fw_lock();
    if (fw_head->measure_left && --fw_head->measure_left == 0) measurement_done();
    slot->state = FW_IDLE;
    fw_unlock();
    return;
  }
  slot->state = FW_COUNTING;
  uint64_t number = __atomic_add_fetch(&fw_head->inputs, 1, __ATOMIC_ACQ_REL);
  if (fw_jobs == 1)
    fw_seed(slot->seed)->inputs = slot->seed_inputs + 1;
  else
    __atomic_add_fetch(&fw_seed(slot->seed)->inputs, 1, __ATOMIC_ACQ_REL);
  slot->state = FW_IDLE;
  if (number >= fw_head->next_point) point_reached();
}

static int one_input(const uint8_t *data, size_t size) {
  uintptr_t lowest = __sancov_lowest_stack;
  int result = target(data, size);
  if (in_child) _exit(0);
  if (fw_head) {
    /* No feature for the depth of the stack: what libFuzzer keeps is what we call a discovery. */
    __sancov_lowest_stack = lowest;
    if (fw_failed)
      discard(from_mutator);
    else
      observe(data, size, from_mutator);
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

static void begin_input(uint64_t seed) {
  struct fw_slot *slot = &fw_head->slots[fw_job];
  slot->seed = (uint32_t)seed;
  slot->measuring = fw_head->measure_left > 0;
  slot->seed_inputs = fw_seed(seed)->inputs;
  __atomic_store_n(&slot->state, FW_RUNNING, __ATOMIC_RELEASE);
  from_mutator = 1;
}

/* The target's own mutator if it has one, else libFuzzer's. */
static size_t mutate(uint8_t *data, size_t size, size_t max_size) {
  if (fw_mutator) return fw_mutator(data, size, max_size, (unsigned)next_random());
  return LLVMFuzzerMutate(data, size, max_size);
}

static size_t mutate_ours(uint8_t *data, size_t max_size) {
  uint64_t random = next_random();
  uint64_t t = fw_choose(random);
  const struct fw_seed *s = fw_seed(t);
  size_t size = s->size < max_size ? s->size : max_size;
  memcpy(data, fw_data.base + s->where, size);
  unsigned times = fw_mutator ? 1 : 1 + (unsigned)(next_random() & 1);
  for (unsigned i = 0; i < times; i++) {
    size_t changed = mutate(data, size, max_size);
    if (changed) size = changed;
  }
  begin_input(t);
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
  begin_input(last_seed);
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
  return fw_head->schedule == FW_OBSERVE ? mutate_theirs(data, size, max_size)
                                         : mutate_ours(data, max_size);
}

int fw_drive(fw_driver_type driver, int *argc, char ***argv, fw_input_type one) {
  target = one;
  if (!fw_mutator) fw_mutator = LLVMFuzzerCustomMutator;
  open_state();
  return driver(argc, argv, one_input);
}

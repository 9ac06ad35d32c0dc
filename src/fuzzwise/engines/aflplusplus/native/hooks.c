/* What AFL++ calls (4.04c and newer), and what the observer makes of it.
 *
 * post_process comes before every execution, when the map still shows the run before. Inputs are
 * what the havoc stage executes; it begins with a question for a probability, and ends where the
 * next entry of the queue is taken. Before it, inputs are what is as long as the entry, but not the
 * entry itself: the deterministic stages. Not counted are the dry run, calibration, trimming, which
 * makes shorter ones, and a slow input that is run again. */
#include "afl.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_MAP_SIZE 65536
#define SAMPLE 32 /* bytes at the beginning, in the middle and at the end of an input */

enum stage { LOADING, ENTRY, HAVOC };

static enum stage stage;
static int pending;      /* the last execution was an input that is not counted yet */
static int calibrating;  /* an entry was found, and is executed some more times */
static int ended_badly;  /* the input before was a crash or a timeout */
static uint64_t current; /* the seed that is fuzzed */
static char entry[4096];  /* and its file */
static uint64_t last_sample, loaded_hash, kept_hash;
static uint8_t *found; /* the bytes of the entry that is calibrated */
static size_t found_size, found_room;
static const volatile uint64_t *running; /* milliseconds fuzzed before the clock showed [1] */

void *afl_custom_init(void *afl, unsigned int seed);
void afl_custom_deinit(void *data);
uint8_t afl_custom_queue_get(void *data, const uint8_t *name);
uint8_t afl_custom_queue_new_entry(void *data, const uint8_t *name, const uint8_t *parent);
size_t afl_custom_post_process(void *data, uint8_t *input, size_t size, uint8_t **output);
size_t afl_custom_havoc_mutation(void *data, uint8_t *input, size_t size, uint8_t **output,
                                 size_t most);
uint8_t afl_custom_havoc_mutation_probability(void *data);

static void keep(uint8_t **copy, size_t *room, const uint8_t *bytes, size_t size) {
  if (size > *room || !*copy) {
    *room = size * 2 + 1;
    *copy = realloc(*copy, *room);
    if (!*copy) fw_fail("out of memory", "entries");
  }
  memcpy(*copy, bytes, size);
}

static uint64_t sample_of(const uint8_t *data, size_t size) {
  size_t part = size < SAMPLE ? size : SAMPLE;
  return fw_hash(data, part) * 31 + fw_hash(data + size / 2, part < size / 2 ? part : size / 2) * 7 +
         fw_hash(data + size - part, part) + size;
}

/* Time goes on only while the supervisor lets us run. */
static void set_clock(void) {
  if (running) fw_set_clock(running[0], running[1]);
}

static void open_clock(const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/clock", folder);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *base = mmap(NULL, 16, PROT_READ, MAP_SHARED, file, 0);
  if (base != MAP_FAILED) running = base;
  close(file);
}

static void point_reached(void) {
  fw_lock();
  if (fw_head->inputs >= fw_head->next_point) {
    set_clock();
    fw_log_point(0, 0, 0);
    while (fw_head->next_point <= fw_head->inputs) fw_head->next_point *= 2;
  }
  fw_unlock();
}

/* Count the input of the last execution, whose features are listed. */
static void count(const uint8_t *data, size_t size) {
  struct fw_slot *slot = &fw_head->slots[fw_job];
  slot->state = FW_COUNTING;
  uint64_t number = __atomic_add_fetch(&fw_head->inputs, 1, __ATOMIC_ACQ_REL);
  fw_seed(slot->seed)->inputs = slot->seed_inputs + 1;
  if (afl_n_shown) {
    fw_lock();
    if (fw_head->per_seed) fw_count_local(slot->seed, afl_shown, afl_n_shown);
    fw_count(number, slot->seed, afl_shown, afl_n_shown, data, size);
    fw_unlock();
  }
  slot->state = FW_IDLE;
  pending = 0;
  if (number >= fw_head->next_point) point_reached();
}

/* The last execution was an input that AFL++ did not keep. */
static void settle(void) {
  if (!pending) return;
  ended_badly = afl_is_simplified();
  if (ended_badly)
    afl_n_shown = 0; /* an input all the same, but its coverage is none to AFL++ */
  else if (afl_read(fw_head->per_seed ? AFL_ALL : AFL_CHANGING, afl_bytes_of_run()))
    afl_forget_unseen();
  count(NULL, 0);
}

/* A file of the corpus is executed several times; the second time, the map shows the first, and
 * that it did not crash. */
static void load(const uint8_t *data, size_t size) {
  uint64_t hash = fw_hash(data, size), t = 0;
  int again = hash == loaded_hash;
  loaded_hash = hash;
  if (!again || hash == kept_hash) return;
  kept_hash = hash;
  if (!afl_read(AFL_UNSEEN, AFL_CLASSES)) return;
  while (t < fw_head->seeds && fw_seed(t)->hash != hash) t++;
  fw_lock();
  if (t < fw_head->seeds)
    fw_mark_seen(afl_shown, afl_n_shown);
  else
    fw_keep_initial(afl_shown, afl_n_shown, data, size);
  fw_unlock();
}

static void begin_input(void) {
  struct fw_slot *slot = &fw_head->slots[fw_job];
  slot->seed = (uint32_t)current;
  slot->seed_inputs = fw_seed(current)->inputs;
  __atomic_store_n(&slot->state, FW_RUNNING, __ATOMIC_RELEASE);
  pending = 1;
}

/* An execution of something mutated: an input, unless it is one that AFL++ runs again. */
static void make_input(const uint8_t *data, size_t size) {
  if (calibrating) {
    calibrating = size == found_size && memcmp(data, found, size) == 0;
    if (calibrating) return;
  }
  uint64_t sample = sample_of(data, size);
  int again = ended_badly && sample == last_sample;
  last_sample = sample;
  ended_badly = 0;
  if (again) return;
  /* The supervisor sees that all inputs are made, and goes on when it wants more. */
  while (fw_head->max_inputs && fw_head->inputs >= fw_head->max_inputs) raise(SIGSTOP);
  begin_input();
}

/* An execution before the havoc stage. Trimming writes the entry's file anew when it is done. */
static void before_havoc(const uint8_t *data, size_t size) {
  static uint8_t *bytes;
  static size_t length, room;
  static uint64_t whose = ~0ull;
  struct stat info;
  if (stat(entry, &info) != 0 || size < (size_t)info.st_size) return;
  if (whose != current || length != (size_t)info.st_size) {
    const uint8_t *content = afl_load(entry, &length);
    if (!content) return;
    keep(&bytes, &room, content, length);
    whose = current;
  }
  if (size != length || memcmp(data, bytes, size) != 0) make_input(data, size);
}

size_t afl_custom_post_process(void *data, uint8_t *input, size_t size, uint8_t **output) {
  (void)data;
  *output = input;
  if (!fw_head) return size;
  afl_attach();
  settle();
  fw_head->executed++;
  if (stage == LOADING) load(input, size);
  if (stage == ENTRY) before_havoc(input, size);
  if (stage == HAVOC) make_input(input, size);
  return size;
}

uint8_t afl_custom_queue_get(void *data, const uint8_t *name) {
  (void)data;
  if (!fw_head) return 1;
  settle();
  stage = ENTRY;
  calibrating = ended_badly = 0;
  current = afl_seed_of((const char *)name);
  snprintf(entry, sizeof entry, "%s", (const char *)name);
  return 1;
}

uint8_t afl_custom_havoc_mutation_probability(void *data) {
  (void)data;
  stage = HAVOC;
  return 0;
}

size_t afl_custom_havoc_mutation(void *data, uint8_t *input, size_t size, uint8_t **output,
                                 size_t most) {
  (void)data, (void)most;
  *output = input; /* never called, but asked for together with its probability */
  return size;
}

/* AFL++ keeps the last execution; the map has its classes, and its file is written. */
uint8_t afl_custom_queue_new_entry(void *data, const uint8_t *name, const uint8_t *parent) {
  (void)data, (void)parent;
  if (!fw_head || !pending) return 0;
  size_t size = 0;
  const uint8_t *bytes = afl_load((const char *)name, &size);
  uint64_t seeds = fw_head->seeds;
  if (!bytes) return 0;
  set_clock();
  afl_read(fw_head->per_seed ? AFL_ALL : AFL_CHANGING, AFL_CLASSES);
  count(bytes, size);
  if (fw_head->seeds > seeds) afl_name_seed((const char *)name, seeds);
  keep(&found, &found_room, bytes, size);
  found_size = size;
  calibrating = 1;
  return 0;
}

/* Nobody would stop us, or count what we do, without the supervisor. */
static void die_with_supervisor(void) {
  const char *parent = getenv("FUZZWISE_PARENT");
  if (!parent) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (atoi(parent) != getppid()) _exit(FW_EXIT_STATE);
}

static uint64_t wanted_map_size(void) {
  static const char *const names[] = {"FUZZWISE_MAP_SIZE", "AFL_MAP_SIZE"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *text = getenv(names[i]);
    uint64_t size = text ? strtoull(text, NULL, 10) : 0;
    if (size) return size;
  }
  return DEFAULT_MAP_SIZE;
}

void *afl_custom_init(void *afl, unsigned int seed) {
  (void)afl, (void)seed;
  static int anything;
  const char *folder = getenv("FUZZWISE_STATE");
  if (!folder || !*folder) {
    fprintf(stderr, "fuzzwise: without FUZZWISE_STATE, the folder of the counts, none are kept.\n");
    return &anything;
  }
  die_with_supervisor();
  fw_open(folder);
  uint64_t size = (wanted_map_size() + 7) / 8 * 8, space = size * FW_BUCKETS;
  if (!fw_fresh_state && fw_head->features != space) {
    fprintf(stderr, "fuzzwise: the state belongs to another build of the target.\n");
    _exit(FW_EXIT_STATE);
  }
  fw_need(&fw_features, space);
  fw_need(&fw_holder_of, space * sizeof(uint32_t));
  if (fw_head->per_seed) fw_need(&fw_windows, space * 3 * sizeof(uint32_t));
  fw_head->features = space;
  fw_head->schedule = FW_OBSERVE;
  afl_open_map(size);
  afl_open_entries(folder);
  open_clock(folder);
  if (fw_fresh_state) {
    for (int w = 0; w < FW_WINDOWS; w++) fw_head->window_generation[w] = 1;
    __atomic_store_n(&fw_head->magic, FW_MAGIC, __ATOMIC_RELEASE);
  } else {
    fw_recover();
  }
  if (fw_head->inputs >= fw_head->next_point) point_reached();
  fw_head->slots[fw_job] = (struct fw_slot){.state = FW_IDLE, .pid = (uint32_t)getpid()};
  return &anything;
}

/* AFL++ ends in good order. It has not looked at the last run, so it is none to us, either. */
void afl_custom_deinit(void *data) {
  (void)data;
  if (!fw_head) return;
  fw_head->slots[fw_job].state = FW_IDLE;
  fw_head = NULL;
}

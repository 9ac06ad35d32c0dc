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

/* What the supervisor tells in the file STATE/clock; of an older one, the clock only. It may write
 * what waits at any time, each word whole, but the clock only while we stand still. */
struct told {
  uint64_t milliseconds, since; /* fuzzed before the clock showed `since` */
  double waiting;               /* see fw_set_waiting */
  int64_t tried;
};
static const volatile struct told *told;
static int tells_waiting;

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
    *copy = fw_grow(*copy, *room, "entries");
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
  if (told) fw_set_clock(told->milliseconds, told->since);
}

static void open_clock(const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/clock", folder);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat info;
  size_t size = fstat(file, &info) == 0 ? (size_t)info.st_size : 0;
  if (size >= offsetof(struct told, waiting)) {
    void *base = mmap(NULL, sizeof *told, PROT_READ, MAP_SHARED, file, 0);
    if (base != MAP_FAILED) told = base;
    tells_waiting = told && size >= sizeof *told;
  }
  close(file);
}

static void point_reached(void) {
  fw_lock();
  if (fw_head->inputs >= fw_head->next_point) {
    set_clock();
    if (tells_waiting) fw_set_waiting(told->waiting, told->tried);
    fw_log_point(0, 0, 0);
  }
  fw_unlock();
}

/* Count the input of the last execution, whose features are listed. */
static void count(const uint8_t *data, size_t size) {
  fw_head->slots[fw_job].state = FW_COUNTING;
  pending = 0;
  if (fw_count_input(fw_shown, fw_n_shown, data, size)) point_reached();
}

/* The last execution was an input that AFL++ did not keep. */
static void settle(void) {
  if (!pending) return;
  ended_badly = afl_is_simplified();
  if (ended_badly)
    fw_n_shown = 0; /* an input all the same, but its coverage is none to AFL++ */
  else if (afl_read(fw_head->per_seed ? FW_ALL : FW_CHANGING, afl_bytes_of_run()))
    afl_forget_unseen();
  count(NULL, 0);
}

/* A file of the corpus is executed several times; the second time, the map shows the first, and
 * that it did not crash. */
static void load(const uint8_t *data, size_t size) {
  uint64_t hash = fw_hash(data, size);
  int again = hash == loaded_hash;
  loaded_hash = hash;
  if (!again || hash == kept_hash) return;
  kept_hash = hash;
  if (!afl_read(FW_UNSEEN, AFL_CLASSES)) return;
  fw_lock();
  fw_keep_initial(fw_shown, fw_n_shown, data, size, 0);
  fw_unlock();
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
  fw_begin_input(current);
  pending = 1;
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
  afl_read(fw_head->per_seed ? FW_ALL : FW_CHANGING, AFL_CLASSES);
  count(bytes, size);
  if (fw_head->seeds > seeds) afl_name_seed((const char *)name, seeds);
  keep(&found, &found_room, bytes, size);
  found_size = size;
  calibrating = 1;
  return 0;
}

static uint64_t wanted_map_size(void) {
  uint64_t size = fw_setting("FUZZWISE_MAP_SIZE", 0);
  if (!size) size = fw_setting("AFL_MAP_SIZE", 0);
  return size ? size : DEFAULT_MAP_SIZE;
}

void *afl_custom_init(void *afl, unsigned int seed) {
  (void)afl, (void)seed;
  static int anything;
  const char *folder = getenv("FUZZWISE_STATE");
  if (!folder || !*folder) {
    fprintf(stderr, "fuzzwise: without FUZZWISE_STATE, the folder of the counts, none are kept.\n");
    return &anything;
  }
  fw_die_with_supervisor();
  fw_open(folder);
  uint64_t size = (wanted_map_size() + 7) / 8 * 8;
  fw_make_room(size * FW_BUCKETS);
  fw_head->schedule = FW_OBSERVE;
  afl_open_map(size);
  afl_open_entries(folder);
  open_clock(folder);
  fw_ready();
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

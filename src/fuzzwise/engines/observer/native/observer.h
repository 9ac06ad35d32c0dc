/* The observer: what a stock fuzzer does, counted, in memory-mapped files.
 *
 * A state folder holds one campaign. Several fuzzing processes may share it. Counts change in two
 * ways: the inputs of the campaign and of each seed by atomic increments; everything else under one
 * lock and a journal of absolute values, so that a process killed at any instant leaves a state
 * that the next one completes, and nothing is counted twice.
 */
#ifndef FUZZWISE_OBSERVER_H
#define FUZZWISE_OBSERVER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define FW_MAGIC 0x31657369777a7566ull /* "fuzwise1" */
#define FW_VERSION 2u
#define FW_MAX_JOBS 64
#define FW_WINDOWS 2 /* a-reset windows: restart after 1 and after 10 added seeds */
#define FW_BUCKETS 8

#define FW_SEEN 0x80u     /* of a feature: shown by the campaign or its initial corpus */
#define FW_UNSTABLE 0x40u /* of all features of an edge: two runs of one input showed it otherwise */
#define FW_COUNT 0x07u    /* of a feature: inputs that showed it, up to FW_MANY */
#define FW_MANY 5u

#define FW_EXIT_STATE 73 /* the state cannot be kept: disk full, folder gone, damaged */

enum fw_slot_state { FW_IDLE = 0, FW_RUNNING = 1, FW_COUNTING = 2 };
enum fw_schedule { FW_UNIFORM = 0, FW_LATER = 1, FW_FRESH = 2, FW_OBSERVE = 3 };
enum fw_species { FW_FEATURE = 0, FW_EDGE = 1, FW_PATH = 2 };

/* What a job is doing; written before an input runs, so that a crash loses none. */
struct fw_slot {
  uint32_t state;
  uint32_t seed;
  uint64_t seed_inputs; /* of that seed, before this input */
  uint32_t measuring;   /* the input belongs to a measurement of the truth */
  uint32_t pid;
};

/* Fixed part of the state; its layout is read by state.py. */
struct fw_head {
  uint64_t magic;
  uint32_t version;
  uint32_t species_kind;
  uint64_t features;  /* size of the feature space: counters times buckets */
  uint64_t sequence;  /* odd while counts change under the lock */
  uint64_t inputs;    /* n */
  uint64_t species;   /* seen, initial corpus included */
  uint64_t f[4];      /* f1 … f4 */
  uint64_t k;         /* inputs that hold a singleton */
  uint64_t discoveries;
  uint64_t seeds;
  uint64_t holders;
  uint64_t data_used;
  uint64_t lost;          /* inputs that ended their process: crash, timeout, memory */
  uint64_t initial;       /* inputs of the initial corpus that were kept */
  uint64_t executed;      /* all executions, also those that are not inputs */
  uint64_t next_point;    /* the next data point */
  uint64_t log_bytes;     /* length of the log up to its last whole line */
  uint64_t logged;        /* discoveries in the log already */
  uint64_t measure;       /* 1: measure the truth at data points */
  uint64_t measure_left;  /* inputs of the running measurement still to come */
  uint64_t measure_size;
  uint64_t measure_found;
  uint64_t per_seed;      /* 1: local counts and reset windows are kept */
  uint64_t local_pages;
  uint64_t local_off;     /* 1: the budget for local counts was used up */
  uint64_t window_generation[FW_WINDOWS];
  uint64_t window_singletons[FW_WINDOWS];
  uint64_t added;         /* seeds added by discoveries */
  uint64_t last_discovery_ms;
  uint64_t stop;          /* set by the supervisor */
  uint64_t max_inputs;    /* 0: none */
  uint64_t schedule;
  uint64_t replaced;      /* seeds replaced by smaller inputs */
  struct fw_slot slots[FW_MAX_JOBS];
  /* journal */
  uint64_t journal_valid;
  uint64_t journal_count;
  uint64_t journal_seed;
  uint64_t journal_seeds;       /* the counters below, as they are after the input */
  uint64_t journal_data_used;
  uint64_t journal_discoveries;
  union {
    pthread_mutex_t lock;
    uint8_t lock_room[64]; /* what follows has the same place on every machine */
  };
  /* 0 in states of earlier versions, which have the same layout up to here. */
  uint64_t edges;    /* that were shown, unstable ones included; not where paths are the species */
  uint64_t unstable; /* of those, see FW_UNSTABLE */
  uint64_t reruns;   /* inputs that were run again because they looked new */
  uint64_t differed; /* of those, inputs that showed something else then */
};

struct fw_seed {
  uint64_t where; /* offset of its bytes in the data file */
  uint64_t size;
  uint64_t inputs;  /* n_t */
  uint64_t f1, f2;  /* local */
  uint64_t k;       /* inputs with a global singleton */
  uint64_t g;       /* global singletons */
  uint64_t hash;
  uint64_t owned;       /* offset in the data file of the features it was kept for */
  uint64_t owned_count;
  uint64_t found_at;    /* n when it was added; 0 for the initial corpus */
  uint64_t parent;
  uint64_t pages; /* 1 + index of its page table in the directory file; 0: none */
};

/* An input that holds singletons: which seed made it, and how many it still holds. */
struct fw_holder {
  uint32_t seed;
  uint32_t live;
};

struct fw_change {
  uint64_t feature;
  uint32_t value;  /* the feature's byte after the change */
  uint32_t holder; /* of the singleton, if it is one now */
};

/* Beside each discovery, in a file of its own, is 1 + the inputs that had been made of its seed before
 * (uint64_t): 0 where an earlier version counted it. */
struct fw_discovery {
  uint64_t input;
  uint64_t milliseconds;
};

/* What inputs of a seed took so far, and how many were timed; beside the seeds, in a file of its own,
 * which states of earlier versions do not have. */
struct fw_time {
  uint64_t nanoseconds;
  uint64_t inputs;
};

/* A growing memory-mapped file. */
struct fw_region {
  int fd;
  uint8_t *base;
  size_t size; /* usable bytes */
  size_t limit;
  const char *name;
  char *path;
};

extern struct fw_head *fw_head;
extern struct fw_region fw_features, fw_holder_of, fw_seeds, fw_data, fw_holders, fw_journal,
    fw_discoveries, fw_ages, fw_times, fw_directory, fw_pages, fw_windows, fw_paths;
extern unsigned fw_job, fw_jobs;
extern int fw_fresh_state;

/* process.c */
_Noreturn void fw_fail(const char *what, const char *name);
void fw_die_with_supervisor(void);
uint64_t fw_setting(const char *name, uint64_t otherwise);
void *fw_grow(void *list, size_t bytes, const char *name);
void fw_start_clock(void);
void fw_set_clock(uint64_t milliseconds, uint64_t since);
uint64_t fw_milliseconds(void);
uint64_t fw_nanoseconds(void);
int fw_open_file(const char *path);

/* state.c */
void fw_open(const char *folder);
void fw_open_region(struct fw_region *region, const char *folder);
void fw_need(struct fw_region *region, size_t bytes);
void fw_make_room(uint64_t features);
void fw_ready(void);
void fw_lock(void);
void fw_unlock(void);
void fw_recover(void);
static inline uint8_t *fw_feature(void) { return fw_features.base; }
static inline struct fw_seed *fw_seed(uint64_t t) { return (struct fw_seed *)fw_seeds.base + t; }
static inline struct fw_holder *fw_holder(uint64_t i) {
  return (struct fw_holder *)fw_holders.base + i;
}

/* inputs.c */
void fw_begin_input(uint64_t seed);
int fw_count_input(const uint64_t *shown, size_t n_shown, const uint8_t *data, size_t size);
void fw_recover_slot(unsigned job);

/* counts.c */
void fw_count(uint64_t number, uint64_t seed, const uint64_t *shown, size_t n_shown,
              const uint8_t *data, size_t size);
void fw_count_local(uint64_t seed, const uint64_t *shown, size_t n_shown);
void fw_keep_initial(const uint64_t *shown, size_t n_shown, const uint8_t *data, size_t size,
                     int anyway);
void fw_count_rerun(const uint64_t *unstable, size_t n_unstable, int differed);
void fw_add_seed(const uint8_t *data, size_t size, const uint64_t *owned, size_t n_owned);
void fw_apply_journal(void);
void fw_recount(void);
uint64_t fw_hash(const uint8_t *data, size_t size);

/* schedule.c */
uint64_t fw_choose(uint64_t random);
void fw_add_time(uint64_t t, uint64_t nanoseconds);
double fw_weight(uint64_t t);
double fw_weight_sum(void);
uint64_t fw_recognise(const uint8_t *data, size_t size);

/* log.c */
void fw_log_point(int with_truth, uint64_t found, uint64_t size);
void fw_log_open(const char *folder);
void fw_set_waiting(double share, int64_t seeds_tried);

#endif

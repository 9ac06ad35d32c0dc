/* What the driver of the AFL++ study remembers, in a file that outlives each process of the target.

   afl_campaign.py writes the settings, reads the counts, and knows the layout of the 64-bit words. */
#ifndef AFL_TRUTH_H
#define AFL_TRUTH_H

#include <stdint.h>

enum {
  MAP_BYTES = 1 << 20,
  INPUT_BYTES = 1 << 20,
  MOST_DISCOVERIES = 1 << 16,
  MOST_ENTRIES = 1 << 16,
  MOST_HITS = 1 << 20
};
#define ARENA_BYTES ((uint64_t)1 << 30)

enum phase { CAMPAIGN, FROZEN, DONE };
enum kind { SEED, REPEAT, TRIM, MUTATED };

/* A queue entry that afl-fuzz has not trimmed yet. */
struct entry {
  uint64_t start, length; /* in the arena */
  uint64_t trace;         /* hash of what it covers */
};

/* Where afl-fuzz is in trimming one entry. */
struct trimming {
  uint64_t active, entry, step, position, length, tried;
  uint8_t bytes[INPUT_BYTES]; /* what is left of the entry */
};

struct record {
  /* Settings. */
  uint64_t freeze_at;    /* mutated inputs of the campaign, before it is frozen */
  uint64_t truth_inputs; /* mutated inputs from the frozen queue */
  uint64_t seeds;        /* files of the initial corpus */
  /* Counts. */
  uint64_t phase;
  uint64_t executions;
  uint64_t kinds[4];        /* executions of each kind, up to the freeze */
  uint64_t at_freeze;       /* executions up to the freeze */
  uint64_t frozen_inputs;   /* mutated inputs since */
  uint64_t hits;            /* of these, how many showed something new */
  uint64_t discoveries;     /* inputs that afl-fuzz added to its queue */
  uint64_t unconfirmed;     /* inputs that showed something new, and were not added */
  uint64_t unfinished;      /* executions that did not come back: crashes, timeouts */
  uint64_t variable;        /* map bytes that differ between runs of one input */
  uint64_t broken_trims;    /* trimmings that ended otherwise than expected */
  uint64_t map_size;
  uint64_t frozen_executions; /* executions in which the frozen inputs were made */
  uint64_t free[13];
  /* For each discovery: its execution, and its number among the mutated inputs. */
  uint64_t log[MOST_DISCOVERIES][2];
  uint32_t hit_log[MOST_HITS]; /* for each hit: its number among the frozen inputs */
  /* The driver's own. */
  uint64_t running, calibrating, awaiting, awaited_trace, previous_length, seeds_seen;
  uint64_t entries, arena_used;
  struct entry entry[MOST_ENTRIES];
  uint32_t first_trial[MOST_ENTRIES]; /* length of the first input of its trimming; 0: none ahead */
  uint8_t seen[MAP_BYTES];            /* hit-count classes seen, one bit each */
  uint8_t first_run[MAP_BYTES];       /* classes of the input that is calibrated */
  uint8_t previous[INPUT_BYTES];
  struct trimming trimming;
  uint8_t arena[ARENA_BYTES];
};

/* Remember a queue entry, so that its trimming is recognised. */
void entry_added(struct record *record, const uint8_t *data, uint64_t length, uint64_t trace);

/* Whether this input is the next one of a trimming, or the first of a new one. */
int is_trial(struct record *record, const uint8_t *data, uint64_t length);

/* Tell the trimming what its input covered. */
void trial_ran(struct record *record, uint64_t trace);

#endif

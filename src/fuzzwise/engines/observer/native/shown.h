/* The features that a run showed: which of them matter, and the list of those. */
#ifndef FUZZWISE_SHOWN_H
#define FUZZWISE_SHOWN_H

#include "observer.h"

/* Which features of a run to list: those whose count can still change, all of them (where local
 * counts are kept), or only those that nothing has shown yet (where nothing is counted). */
enum fw_listing { FW_CHANGING, FW_ALL, FW_UNSEEN };

extern uint64_t *fw_shown; /* features of the run that was read last, at most one of a counter */
extern size_t fw_n_shown;
extern uint8_t *fw_settled; /* for each counter, the buckets whose count cannot change any more */

/* A run while it is read: a variable of the reading function, so that it stays in registers. */
struct fw_run {
  const uint8_t *features;
  uint8_t *settled;
  uint64_t *shown;
  size_t n_shown;
  enum fw_listing which;
  int anything_new;
};

void fw_open_shown(uint64_t features);
void fw_fill_buckets(uint8_t *bucket_of);

static inline struct fw_run fw_begin_run(enum fw_listing which) {
  return (struct fw_run){
      .features = fw_feature(), .settled = fw_settled, .shown = fw_shown, .which = which};
}

/* Whether any feature of the run is new. */
static inline int fw_end_run(const struct fw_run *run) {
  fw_n_shown = run->n_shown;
  return run->anything_new;
}

static inline void fw_show(struct fw_run *run, uint64_t feature, uint8_t state) {
  run->anything_new |= !(state & FW_SEEN);
  run->shown[run->n_shown++] = feature;
}

/* List a feature of the run if it is one of those that are wanted. 0: neither this run nor a later
 * one changes its count. */
static inline int fw_look(struct fw_run *run, uint64_t counter, unsigned bucket) {
  uint8_t *settled = run->settled + counter;
  if (run->which != FW_ALL && *settled >> bucket & 1) return 0;
  uint64_t feature = counter * FW_BUCKETS + bucket;
  uint8_t state = run->features[feature];
  if (state == (FW_SEEN | FW_MANY) || state & FW_UNSTABLE) {
    *settled = (uint8_t)(*settled | 1u << bucket);
    if (run->which != FW_ALL || state & FW_UNSTABLE) return 0;
  }
  if (run->which == FW_UNSEEN && state & FW_SEEN) return 1;
  fw_show(run, feature, state);
  return 1;
}

/* A hit count as libFuzzer and AFL++ see it: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128-255. */
static inline unsigned fw_bucket(uint8_t count) {
  if (count >= 128) return 7;
  if (count >= 32) return 6;
  if (count >= 16) return 5;
  if (count >= 8) return 4;
  if (count >= 4) return 3;
  return count - 1u;
}

#endif

/* Which seed is mutated next. The weights are known, so the probability q of each seed is exact. */
#include "observer.h"

#include <math.h>
#include <stdlib.h>

/* FW_FRESH: later seeds first, and among them those that were mutated little. That is a share of the
 * time: what a seed's inputs take more than the mean, it has fewer of. The weights are fixed for a
 * while and then made anew: after every discovery, and after as many inputs as seeds. */
static double *cumulative;
static uint64_t table_seeds, table_until, table_room;

#define LITTLE_KNOWN 8.0 /* inputs that say as much of a seed as the mean of all does */
#define AT_ONCE 16.0     /* one input counts as so many times what was expected, at most */
static double mean_time; /* of an input, in nanoseconds; 0: not known yet */

static struct fw_time *times(void) { return (struct fw_time *)(void *)fw_times.base; }

static double expected_time(uint64_t t) {
  const struct fw_time *own = times() + t;
  return ((double)own->nanoseconds + LITTLE_KNOWN * mean_time) /
         ((double)own->inputs + LITTLE_KNOWN);
}

/* A core that does something else meanwhile is none of the seed's doing, hence the limit; an input
 * that is that slow again raises it. */
void fw_add_time(uint64_t t, uint64_t nanoseconds) {
  if ((t + 1) * sizeof(struct fw_time) > fw_times.size) return; /* no weights were made with it */
  struct fw_time *own = times() + t;
  double most = mean_time > 0.0 ? AT_ONCE * expected_time(t) : (double)nanoseconds;
  uint64_t took = (double)nanoseconds < most ? nanoseconds : (uint64_t)most;
  __atomic_add_fetch(&own->nanoseconds, took, __ATOMIC_RELAXED);
  __atomic_add_fetch(&own->inputs, 1, __ATOMIC_RELAXED);
}

static void know_times(uint64_t seeds) {
  double nanoseconds = 0.0, inputs = 0.0;
  fw_need(&fw_times, seeds * sizeof(struct fw_time));
  for (uint64_t t = 0; t < seeds; t++) {
    nanoseconds += (double)times()[t].nanoseconds;
    inputs += (double)times()[t].inputs;
  }
  mean_time = inputs > 0.0 ? nanoseconds / inputs : 0.0;
}

static double fresh_weight(uint64_t t, uint64_t seeds) {
  double age = (double)(seeds - t);
  double tried = (double)fw_seed(t)->inputs;
  double share = 1.0 / (age + 8.0) + 8.0 / (tried + 64.0) + 0.25 / (double)seeds;
  return mean_time > 0.0 ? share * mean_time / expected_time(t) : share;
}

double fw_weight(uint64_t t) {
  switch (fw_head->schedule) {
  case FW_UNIFORM:
    return 1.0;
  case FW_LATER:
    return (double)t + 1.0;
  case FW_OBSERVE:
    return (double)fw_seed(t)->inputs + 1.0;
  default:
    if (t < table_seeds) return cumulative[t] - (t ? cumulative[t - 1] : 0.0);
    return 0.0;
  }
}

static void make_table(uint64_t seeds) {
  if (seeds > table_room) {
    table_room = seeds * 2;
    cumulative = fw_grow(cumulative, table_room * sizeof *cumulative, "schedule");
  }
  double sum = 0.0;
  know_times(seeds);
  for (uint64_t t = 0; t < seeds; t++) {
    sum += fresh_weight(t, seeds);
    cumulative[t] = sum;
  }
  table_seeds = seeds;
  table_until = fw_head->inputs + seeds + 64;
}

double fw_weight_sum(void) {
  double sum = 0.0;
  /* After a discovery, or at the start, the weights of the next input are yet to be made. */
  if (fw_head->schedule == FW_FRESH && table_seeds != fw_head->seeds) make_table(fw_head->seeds);
  for (uint64_t t = 0; t < fw_head->seeds; t++) sum += fw_weight(t);
  return sum;
}

uint64_t fw_choose(uint64_t random) {
  uint64_t seeds = __atomic_load_n(&fw_head->seeds, __ATOMIC_ACQUIRE);
  double u = (double)(random >> 11) * 0x1p-53;
  switch (fw_head->schedule) {
  case FW_UNIFORM:
    return (uint64_t)(u * (double)seeds);
  case FW_LATER: {
    /* 1 + 2 + … + i ≤ x: the triangular root, corrected for rounding. */
    double x = u * (double)seeds * ((double)seeds + 1.0) / 2.0;
    uint64_t i = (uint64_t)((sqrt(8.0 * x + 1.0) - 1.0) / 2.0);
    return i < seeds ? i : seeds - 1;
  }
  default:
    if (seeds != table_seeds || fw_head->inputs >= table_until) make_table(seeds);
    double x = u * cumulative[seeds - 1];
    uint64_t low = 0, high = seeds - 1;
    while (low < high) {
      uint64_t middle = (low + high) / 2;
      if (cumulative[middle] > x)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
}

/* Observe-only: the seed whose bytes these are, or the last one recognised. */
uint64_t fw_recognise(const uint8_t *data, size_t size) {
  static uint64_t *slots, capacity, filled, last;
  uint64_t seeds = fw_head->seeds;
  if (capacity < seeds * 4) {
    free(slots);
    capacity = 1024;
    while (capacity < seeds * 8) capacity *= 2;
    slots = calloc(capacity, sizeof *slots);
    if (!slots) fw_fail("out of memory", "schedule");
    filled = 0;
  }
  for (; filled < seeds; filled++) {
    uint64_t at = fw_seed(filled)->hash & (capacity - 1);
    while (slots[at]) at = (at + 1) & (capacity - 1);
    slots[at] = filled + 1;
  }
  uint64_t hash = fw_hash(data, size);
  for (uint64_t at = hash & (capacity - 1); slots[at]; at = (at + 1) & (capacity - 1))
    if (fw_seed(slots[at] - 1)->hash == hash) return last = slots[at] - 1;
  return last < seeds ? last : 0;
}

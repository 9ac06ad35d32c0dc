/* How long an input may become: drawn anew for each, from what the corpus is like.
 *
 * libFuzzer raises its limit while nothing is found. The inputs are then of another kind than those
 * before, so that the chance of a discovery can rise again, and does so in a measurement of the
 * truth, in which nothing is found by design. A draw from the corpus is the same until there is
 * another seed. */
#include "libfuzzer.h"

#define SMALLEST ((size_t)16) /* of the limits that have nothing to do with the corpus */
#define ANY_LENGTH 16         /* one in so many */

static int ours;

void fw_open_lengths(void) { ours = fw_setting("FUZZWISE_LENGTHS", 0) != 0; }

/* A power of two, up to the maximum: what no seed is long enough for is tried all the same. */
static size_t any_length(size_t max_size, uint64_t random) {
  unsigned doublings = 1;
  while (SMALLEST << doublings < max_size && doublings < 40) doublings++;
  return SMALLEST << random % (doublings + 1);
}

/* Of the seeds that there are or were: one that is replaced by a smaller input was as long. */
static size_t longest_seed(void) {
  static size_t longest;
  static uint64_t known;
  uint64_t seeds = __atomic_load_n(&fw_head->seeds, __ATOMIC_ACQUIRE);
  for (; known < seeds; known++)
    if (fw_seed(known)->size > longest) longest = fw_seed(known)->size;
  return longest;
}

/* The limit for the next input of a seed, at most `max_size`, at least what the seed has. */
size_t fw_longest(uint64_t t, size_t max_size, uint64_t random) {
  if (!ours) return max_size;
  size_t own = fw_seed(t)->size, limit;
  if (random % ANY_LENGTH == 0) {
    limit = any_length(max_size, random >> 8);
  } else {
    limit = longest_seed();
    limit += 4 + limit * (random >> 8 & 0xff) / 2048; /* up to an eighth more */
  }
  if (limit < own) limit = own;
  return limit < max_size ? limit : max_size;
}

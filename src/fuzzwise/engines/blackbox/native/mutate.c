/* One input: which kinds of mutation it gets, in which order. */
#include "mutate.h"

#include <string.h>

enum { MOST_ROUNDS = 8 };

uint64_t fw_hash(const uint8_t *data, uint64_t length) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint64_t i = 0; i < length; i++) hash = (hash ^ data[i]) * 0x100000001b3u;
  return hash;
}

static uint64_t one_of(uint64_t kinds, struct fw_random *random) {
  uint64_t nth = fw_random_below(random, (uint64_t)__builtin_popcountll(kinds));
  while (nth--) kinds &= kinds - 1;
  return kinds & -kinds;
}

/* A run has one round of mutation with probability 1/2, two with 1/4, and so on. Bits are flipped
   in one round at most, so that the ratio of flipped bits is the one that was drawn. */
uint64_t fw_make_input(const struct fw_mutation *how, uint64_t random_seed, uint64_t run,
                       uint8_t *out) {
  struct fw_buffer b = {out, how->seed.length, how->max_length};
  if (b.length) memcpy(out, how->seed.data, b.length);
  if (run == 0) return b.length;
  struct fw_random random;
  fw_random_start(&random, random_seed, run);
  uint64_t kinds = how->kinds;
  int rounds = 1 + __builtin_ctzll(fw_random_next(&random) | 1u << (MOST_ROUNDS - 1));
  while (rounds-- && kinds) {
    switch (one_of(kinds, &random)) {
      case FW_BITS:
        fw_flip_bits(&b, &random, how->low, how->high);
        kinds &= ~(uint64_t)FW_BITS;
        break;
      case FW_BYTES: fw_change_bytes(&b, &random); break;
      case FW_BLOCKS: fw_edit_block(&b, &random); break;
      case FW_ARITHMETIC: fw_add_numbers(&b, &random); break;
      case FW_SPLICE: fw_splice(&b, &random, how); break;
      default: return b.length;
    }
  }
  return b.length;
}

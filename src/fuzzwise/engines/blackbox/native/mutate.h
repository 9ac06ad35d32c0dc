/* Inputs made from a seed: a pure function of (seed bytes, random seed, run, parameters). */
#ifndef FUZZWISE_MUTATE_H
#define FUZZWISE_MUTATE_H

#include <stddef.h>
#include <stdint.h>

enum { FW_BITS = 1, FW_BYTES = 2, FW_BLOCKS = 4, FW_ARITHMETIC = 8, FW_SPLICE = 16 };

struct fw_bytes {
  const uint8_t *data;
  uint64_t length;
};

struct fw_mutation {
  uint64_t kinds;      /* the enabled kinds of mutation, or-ed */
  double low, high;    /* bounds of the ratio of flipped bits */
  uint64_t max_length; /* of an input; at least the length of the seed */
  struct fw_bytes seed;
  const struct fw_bytes *others; /* what may be spliced in, besides the seed itself */
  uint64_t other_count;
};

/* Writes the input of a run to out, which has room for max_length bytes, and gives its length.
   Run 0 is the seed itself. */
#pragma GCC visibility push(default)
uint64_t fw_make_input(const struct fw_mutation *how, uint64_t random_seed, uint64_t run,
                       uint8_t *out);
uint64_t fw_hash(const uint8_t *data, uint64_t length); /* 64-bit FNV-1a */
#pragma GCC visibility pop

/* A buffer that edits grow and shrink. */
struct fw_buffer {
  uint8_t *data;
  uint64_t length, room;
};

struct fw_random {
  uint64_t state[4];
};

void fw_random_start(struct fw_random *random, uint64_t random_seed, uint64_t run);
uint64_t fw_random_next(struct fw_random *random);
uint64_t fw_random_below(struct fw_random *random, uint64_t bound); /* 0 where bound is 0 */
double fw_random_unit(struct fw_random *random);                    /* in (0, 1] */

void fw_flip_bits(struct fw_buffer *b, struct fw_random *random, double low, double high);
void fw_change_bytes(struct fw_buffer *b, struct fw_random *random);
void fw_add_numbers(struct fw_buffer *b, struct fw_random *random);
void fw_edit_block(struct fw_buffer *b, struct fw_random *random);
void fw_splice(struct fw_buffer *b, struct fw_random *random, const struct fw_mutation *how);

#endif

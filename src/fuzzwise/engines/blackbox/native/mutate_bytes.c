/* Single bytes, and numbers of one, two or four bytes in both byte orders. */
#include "mutate.h"

enum { MOST_EDITS_LOG2 = 4, MOST_ADDED = 35 };

static const int64_t interesting[] = {
    0, -1, 1, -128, 127, 128, 16, 32, 64, 100, 255, 256, 512, 1000, 1024, 4096,
    -32768, 32767, 32768, 65535, 65536, INT32_MIN, INT32_MAX, -100663046, 100663045,
};

/* 1, 2, 4 or 8 edits. */
static unsigned edits(struct fw_random *random) {
  return 1u << fw_random_below(random, MOST_EDITS_LOG2);
}

/* A number's width, 1, 2 or 4, as far as the input is that long; 0 where it is empty. */
static unsigned drawn_width(struct fw_buffer *b, struct fw_random *random) {
  unsigned width = 1u << fw_random_below(random, 3);
  while (width > b->length) width /= 2;
  return width;
}

static uint64_t loaded(const uint8_t *at, unsigned width, int big) {
  uint64_t value = 0;
  for (unsigned i = 0; i < width; i++) value |= (uint64_t)at[big ? width - 1 - i : i] << 8 * i;
  return value;
}

static void store(uint8_t *at, unsigned width, int big, uint64_t value) {
  for (unsigned i = 0; i < width; i++) at[big ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* A random byte takes the place of one, or an interesting number that of one, two or four. */
void fw_change_bytes(struct fw_buffer *b, struct fw_random *random) {
  if (!b->length) return;
  for (unsigned left = edits(random); left; left--) {
    if (fw_random_below(random, 2)) {
      b->data[fw_random_below(random, b->length)] = (uint8_t)fw_random_next(random);
      continue;
    }
    unsigned width = drawn_width(b, random);
    uint8_t *at = b->data + fw_random_below(random, b->length - width + 1);
    int big = (int)fw_random_below(random, 2);
    uint64_t nth = fw_random_below(random, sizeof interesting / sizeof *interesting);
    store(at, width, big, (uint64_t)interesting[nth]);
  }
}

/* Adds to a number, or takes from it, between 1 and 35. */
void fw_add_numbers(struct fw_buffer *b, struct fw_random *random) {
  if (!b->length) return;
  for (unsigned left = edits(random); left; left--) {
    unsigned width = drawn_width(b, random);
    uint8_t *at = b->data + fw_random_below(random, b->length - width + 1);
    int big = (int)fw_random_below(random, 2);
    uint64_t amount = 1 + fw_random_below(random, MOST_ADDED);
    if (fw_random_below(random, 2)) amount = -amount;
    store(at, width, big, loaded(at, width, big) + amount);
  }
}

/* Blocks of bytes: deleted, duplicated, copied, moved, inserted, cut off; and splices. */
#include "mutate.h"

#include <string.h>

enum { DELETE, DUPLICATE, COPY, MOVE, INSERT, TRUNCATE, BLOCK_EDITS };
enum { MOST_INSERTED = 256 };

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* A length in 1 … most, all orders of magnitude alike; 0 where most is 0. */
static uint64_t drawn_length(struct fw_random *random, uint64_t most) {
  if (!most) return 0;
  unsigned magnitudes = 64 - (unsigned)__builtin_clzll(most);
  uint64_t top = (uint64_t)2 << fw_random_below(random, magnitudes);
  return 1 + fw_random_below(random, smaller(top - 1, most));
}

/* Makes a gap before `at`; the caller keeps within the room that is left. */
static void open_gap(struct fw_buffer *b, uint64_t at, uint64_t length) {
  memmove(b->data + at + length, b->data + at, b->length - at);
  b->length += length;
}

static void close_gap(struct fw_buffer *b, uint64_t at, uint64_t length) {
  memmove(b->data + at, b->data + at + length, b->length - at - length);
  b->length -= length;
}

/* A block of random bytes, or of one byte again and again. */
static void insert(struct fw_buffer *b, struct fw_random *random) {
  uint64_t length = drawn_length(random, smaller(b->room - b->length, MOST_INSERTED));
  uint64_t at = fw_random_below(random, b->length + 1);
  int constant = (int)fw_random_below(random, 2);
  uint8_t byte = (uint8_t)fw_random_next(random);
  open_gap(b, at, length);
  for (uint64_t i = 0; i < length; i++)
    b->data[at + i] = constant ? byte : (uint8_t)fw_random_next(random);
}

/* The block at `from` ends up at `to`; what was in between makes room: a rotation. */
static void move(struct fw_buffer *b, uint64_t from, uint64_t length, uint64_t to) {
  uint64_t start = smaller(from, to), end = from > to ? from + length : to + length;
  uint64_t left = from < to ? length : from - to; /* the first part of [start, end) goes last */
  for (int turn = 0; turn < 3; turn++) {          /* a rotation is three reversals */
    uint64_t i = turn == 1 ? start + left : start, j = turn == 0 ? start + left : end;
    for (; i + 1 < j; i++, j--) {
      uint8_t byte = b->data[i];
      b->data[i] = b->data[j - 1];
      b->data[j - 1] = byte;
    }
  }
}

void fw_edit_block(struct fw_buffer *b, struct fw_random *random) {
  uint64_t edit = fw_random_below(random, BLOCK_EDITS);
  if (!b->length || edit == INSERT) {
    insert(b, random);
    return;
  }
  if (edit == TRUNCATE) {
    b->length -= drawn_length(random, b->length);
    return;
  }
  uint64_t length = drawn_length(random, b->length);
  uint64_t from = fw_random_below(random, b->length - length + 1);
  uint64_t to = fw_random_below(random, b->length - length + 1);
  if (edit == DELETE) {
    close_gap(b, from, length);
  } else if (edit == DUPLICATE) {
    length = smaller(length, b->room - b->length);
    open_gap(b, from, length);
    memcpy(b->data + from, b->data + from + length, length);
  } else if (edit == COPY) {
    memmove(b->data + to, b->data + from, length);
  } else {
    move(b, from, length, to);
  }
}

/* A part of the seed, or of another given file, overwrites or is inserted, or becomes the end. */
void fw_splice(struct fw_buffer *b, struct fw_random *random, const struct fw_mutation *how) {
  uint64_t nth = fw_random_below(random, how->other_count + 1);
  struct fw_bytes source = nth ? how->others[nth - 1] : how->seed;
  uint64_t way = fw_random_below(random, 3);
  uint64_t at = fw_random_below(random, b->length + 1);
  if (!source.length) return;
  if (way == 0) { /* the head of one, the tail of the other */
    uint64_t from = fw_random_below(random, source.length);
    uint64_t length = smaller(source.length - from, b->room - at);
    memcpy(b->data + at, source.data + from, length);
    b->length = at + length;
    return;
  }
  uint64_t length = drawn_length(random, source.length);
  uint64_t from = fw_random_below(random, source.length - length + 1);
  if (way == 1) {
    length = smaller(length, b->room - b->length);
    open_gap(b, at, length);
  } else {
    length = smaller(length, b->room - at);
    if (at + length > b->length) b->length = at + length;
  }
  memcpy(b->data + at, source.data + from, length);
}

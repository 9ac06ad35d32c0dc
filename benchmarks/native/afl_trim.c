/* Recognises the inputs by which afl-fuzz trims a queue entry.

   Before it mutates an entry for the first time, afl-fuzz tries to leave out parts of it: pieces of
   1/16 of the length (rounded up to a power of two), from the second piece on; then halves of that,
   down to 1/1024 or 4 bytes. A piece without which the trace stays the same is left out for good.
   Such runs are executions, but no mutated inputs, and what they cover is not looked at. Each
   one follows from those before, so that the whole sequence can be predicted. */
#include "afl_truth.h"

#include <string.h>

enum { FIRST_PARTS = 16, LAST_PARTS = 1024, LEAST_STEP = 4, LEAST_LENGTH = 5 };

static uint64_t at_least(uint64_t value) { return value > LEAST_STEP ? value : LEAST_STEP; }

static uint64_t power_above(uint64_t value) {
  uint64_t power = 1;
  while (power < value) power <<= 1;
  return power;
}

static uint64_t first_step(uint64_t length) { return at_least(power_above(length) / FIRST_PARTS); }

static uint64_t piece(uint64_t length, uint64_t position, uint64_t step) {
  return position + step < length ? step : length - position;
}

/* Go to the next piece there is to try; 0 when the trimming is over. */
static int to_next_piece(struct trimming *trimming) {
  while (trimming->step >= at_least(power_above(trimming->length) / LAST_PARTS)) {
    if (trimming->position < trimming->length) return 1;
    trimming->step /= 2;
    trimming->position = trimming->step;
  }
  return 0;
}

/* Whether data are these bytes without the piece at a position. */
static int lacks_piece(const uint8_t *data, uint64_t length, const uint8_t *bytes, uint64_t whole,
                       uint64_t position, uint64_t step) {
  uint64_t gap = piece(whole, position, step);
  return length == whole - gap && !memcmp(data, bytes, position) &&
         !memcmp(data + position, bytes + position + gap, length - position);
}

void entry_added(struct record *record, const uint8_t *data, uint64_t length, uint64_t trace) {
  if (record->entries == MOST_ENTRIES || record->arena_used + length > ARENA_BYTES) return;
  uint64_t number = record->entries++, step = first_step(length);
  struct entry *entry = &record->entry[number];
  entry->start = record->arena_used;
  entry->length = length;
  entry->trace = trace;
  memcpy(record->arena + entry->start, data, length);
  record->arena_used += length;
  record->first_trial[number] =
      length < LEAST_LENGTH ? 0 : (uint32_t)(length - piece(length, step, step));
}

static int starts_trimming(struct record *record, const uint8_t *data, uint64_t length) {
  struct trimming *trimming = &record->trimming;
  for (uint64_t number = 0; number < record->entries; number++) {
    if (record->first_trial[number] != length) continue;
    const struct entry *entry = &record->entry[number];
    const uint8_t *bytes = record->arena + entry->start;
    uint64_t step = first_step(entry->length);
    if (!lacks_piece(data, length, bytes, entry->length, step, step)) continue;
    trimming->active = 1;
    trimming->entry = number;
    trimming->step = trimming->position = step;
    trimming->length = entry->length;
    trimming->tried = 0;
    memcpy(trimming->bytes, bytes, entry->length);
    return 1;
  }
  return 0;
}

int is_trial(struct record *record, const uint8_t *data, uint64_t length) {
  struct trimming *trimming = &record->trimming;
  if (trimming->active) {
    if (lacks_piece(data, length, trimming->bytes, trimming->length, trimming->position,
                    trimming->step))
      return 1;
    trimming->active = 0;
    record->broken_trims++;
  }
  return starts_trimming(record, data, length);
}

void trial_ran(struct record *record, uint64_t trace) {
  struct trimming *trimming = &record->trimming;
  if (trace == record->entry[trimming->entry].trace) {
    uint64_t gap = piece(trimming->length, trimming->position, trimming->step);
    uint8_t *hole = trimming->bytes + trimming->position;
    memmove(hole, hole + gap, trimming->length - trimming->position - gap);
    trimming->length -= gap;
  } else {
    trimming->position += trimming->step;
  }
  /* A mutation can look like a first trial; what follows it as predicted is a trimming. */
  if (++trimming->tried > 1) record->first_trial[trimming->entry] = 0;
  if (!to_next_piece(trimming)) {
    trimming->active = 0;
    record->first_trial[trimming->entry] = 0;
  }
}

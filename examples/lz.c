/* Unpacks data that was packed by naming what came before, with three bugs, each in a function of
 * its own.
 *
 *   "LZ" FLAGS SIZE (16 bits), then tokens LITERALS:4 LENGTH:4, literal bytes, BACK (one byte),
 *   and with flag 1 a checksum (32 bits, lowest byte first) behind the last token
 *
 *   bug   function        what happens                when                              how deep
 *   1     copy_match      writes behind a table       1 of 100,000 matches              a header, a token, then luck
 *   2     copy_literals   writes behind a table       1 of 500,000 texts                a header, a token, then luck
 *   3     undo_filter     reads before a heap block   flags 1, 2 and a right checksum   a whole file with its checksum
 *
 * The tables count what occurs, and each is one place too short.
 * LITERALS of 15 has one more byte behind it that is added.
 *
 * Build it with -fsanitize=address. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))
enum { MOST = 512, CHECKED = 1, FILTERED = 2, MATCHES = 100000, TEXTS = 500000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct unpacker {
  const uint8_t *at, *end;
  uint8_t *out;
  size_t size, done;
};

static uint8_t matches[MATCHES - 1], texts[TEXTS - 1];
static volatile unsigned sink;

/* Spreads numbers evenly over tables. */
static uint32_t spread(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t h = (a * 0x9e3779b1u ^ b) * 0x85ebca6bu ^ c;
  h = (h ^ h >> 15) * 0xc2b2ae35u;
  return h ^ h >> 13;
}

static KEEP void copy_match(struct unpacker *u, size_t back, size_t length) {
  matches[spread((uint32_t)back, (uint32_t)length, (uint32_t)u->done) % MATCHES]++;
  for (size_t i = 0; i < length; i++, u->done++) u->out[u->done] = u->out[u->done - back];
}

static KEEP void copy_literals(struct unpacker *u, size_t length) {
  uint32_t text = 0;
  for (size_t i = 0; i < length; i++) text = spread(text, u->at[i], 0);
  texts[text % TEXTS]++;
  memcpy(u->out + u->done, u->at, length);
  u->at += length;
  u->done += length;
}

/* Each byte was stored as its difference to the one STRIDE before it. */
static KEEP void undo_filter(struct unpacker *u, size_t stride) {
  for (size_t i = 1; i < u->size; i++) u->out[i] = (uint8_t)(u->out[i] + u->out[i - stride]);
}

static size_t left(const struct unpacker *u) { return (size_t)(u->end - u->at); }

static int literals(struct unpacker *u, size_t length) {
  size_t space = u->size - u->done;
  if (length == 15) {
    if (left(u) == 0) return 0;
    length += *u->at++;
  }
  if (length > left(u) || length > space) return 0;
  copy_literals(u, length);
  return 1;
}

static int token(struct unpacker *u) {
  uint8_t sizes = *u->at++;
  if (!literals(u, sizes >> 4)) return 0;
  size_t length = sizes & 15;
  if (length == 0) return 1;
  if (left(u) == 0 || length > u->size - u->done) return 0;
  size_t back = *u->at++;
  if (back > u->done) return 0;
  copy_match(u, back, length);
  return 1;
}

static uint32_t checksum(const uint8_t *data, size_t size) {
  uint32_t a = 1, b = 0;
  for (size_t i = 0; i < size; i++) {
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

static KEEP void finish(struct unpacker *u, uint8_t flags) {
  if (flags & CHECKED) {
    if (left(u) < 4) return;
    uint32_t given = u->at[0] | (uint32_t)u->at[1] << 8 | (uint32_t)u->at[2] << 16 |
                     (uint32_t)u->at[3] << 24;
    if (given != checksum(u->out, u->size)) return;
    if (flags & FILTERED) undo_filter(u, flags >> 4);
  }
  for (size_t i = 0; i < u->size; i++) sink += u->out[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 5 || data[0] != 'L' || data[1] != 'Z') return 0;
  struct unpacker u = {data + 5, data + size, NULL, (size_t)(data[3] | data[4] << 8), 0};
  if (u.size == 0 || u.size > MOST) return 0;
  u.out = malloc(u.size);
  if (!u.out) return 0;
  while (u.done < u.size && u.at < u.end)
    if (!token(&u)) break;
  if (u.done == u.size) finish(&u, data[2]);
  free(u.out);
  return 0;
}

/* A validator of UTF-8 (RFC 3629), checked against a decoder; no known bug. Whatever the validator
 * lets pass must come out the same when its code points are encoded again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How many bytes the character at the start takes; 0 where it is not valid. */
static size_t character(const uint8_t *at, size_t left) {
  uint8_t first = at[0], low = 0x80, high = 0xbf;
  size_t length;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first == 0xe0) low = 0xa0;
  if (first == 0xed) high = 0x9f;
  if (first == 0xf0) low = 0x90;
  if (first == 0xf4) high = 0x8f;
  if (left < length || at[1] < low || at[1] > high) return 0;
  for (size_t i = 2; i < length; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  return length;
}

static uint32_t decode(const uint8_t *at, size_t length) {
  static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  uint32_t point = at[0] & masks[length];
  for (size_t i = 1; i < length; i++) point = point << 6 | (at[i] & 0x3f);
  return point;
}

static size_t encode(uint32_t point, uint8_t *out) {
  if (point < 0x80) {
    out[0] = (uint8_t)point;
    return 1;
  }
  size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  for (size_t i = length - 1; i > 0; i--, point >>= 6) out[i] = (uint8_t)(0x80 | (point & 0x3f));
  out[0] = (uint8_t)((0xf00u >> length & 0xff) | point);
  return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t at = 0;
  while (at < size) {
    size_t length = character(data + at, size - at);
    if (length == 0) return 0;
    uint32_t point = decode(data + at, length);
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) abort();
    uint8_t again[4];
    if (encode(point, again) != length) abort();
    for (size_t i = 0; i < length; i++)
      if (again[i] != data[at + i]) abort();
    at += length;
  }
  return 0;
}

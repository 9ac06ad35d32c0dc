/* Base64 (RFC 4648) in both directions; no known bug. What is decoded must encode to the same text
 * again, and any bytes must survive both directions. Build it with -fsanitize=address,undefined. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 256 };
static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value_of(uint8_t letter) {
  if (letter >= 'A' && letter <= 'Z') return letter - 'A';
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
  if (letter >= '0' && letter <= '9') return letter - '0' + 52;
  if (letter == '+') return 62;
  return letter == '/' ? 63 : -1;
}

static size_t encode(const uint8_t *data, size_t size, char *text) {
  size_t at = 0;
  for (size_t i = 0; i < size; i += 3) {
    size_t left = size - i;
    uint32_t group = (uint32_t)data[i] << 16;
    if (left > 1) group |= (uint32_t)data[i + 1] << 8;
    if (left > 2) group |= data[i + 2];
    text[at++] = letters[group >> 18];
    text[at++] = letters[group >> 12 & 63];
    text[at++] = left > 1 ? letters[group >> 6 & 63] : '=';
    text[at++] = left > 2 ? letters[group & 63] : '=';
  }
  return at;
}

/* The length of what the text stands for, or -1 where it is not valid. */
static long decode(const uint8_t *text, size_t size, uint8_t *out) {
  long length = 0;
  if (size % 4 != 0) return -1;
  for (size_t i = 0; i < size; i += 4) {
    int last = i + 4 == size;
    int padding = last && text[i + 3] == '=' ? 1 + (text[i + 2] == '=') : 0;
    uint32_t group = 0;
    for (int k = 0; k < 4; k++) {
      int value = k < 4 - padding ? value_of(text[i + (size_t)k]) : 0;
      if (value < 0) return -1;
      group = group << 6 | (uint32_t)value;
    }
    if (padding == 1 && (group & 0xff) != 0) return -1;
    if (padding == 2 && (group & 0xffff) != 0) return -1;
    out[length++] = (uint8_t)(group >> 16);
    if (padding < 2) out[length++] = (uint8_t)(group >> 8);
    if (padding < 1) out[length++] = (uint8_t)group;
  }
  return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MOST) return 0;
  uint8_t bytes[MOST + 8];
  char text[2 * MOST];
  long length = decode(data, size, bytes);
  if (length >= 0) {
    size_t again = encode(bytes, (size_t)length, text);
    if (again != size || (size && memcmp(text, data, size) != 0)) abort();
  }
  size_t written = encode(data, size, text);
  length = decode((const uint8_t *)text, written, bytes);
  if (length != (long)size || (size && memcmp(bytes, data, size) != 0)) abort();
  return 0;
}

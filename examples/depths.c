/* Three bugs at three depths: one that nearly any input finds, one behind a word, and one behind a
 * checksum. Build it with -fsanitize=address. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

/* Reads behind the end of a copy of the input. */
static void shallow(const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size);
  if (!copy) return;
  memcpy(copy, data, size);
  if (size > 8 && data[1] > 250 && data[2] < 5) sink = copy[size + data[3] % 4];
  free(copy);
}

/* Divides by zero if two bytes behind the word are equal. */
static void behind_a_word(const uint8_t *data, size_t size) {
  if (size < 6 || memcmp(data, "DIV", 3) != 0) return;
  sink = (uint8_t)((data[3] + 1) / (data[4] - data[5]));
}

/* A record with its length and its sum. */
static void behind_a_checksum(const uint8_t *data, size_t size) {
  if (size < 8 || data[0] != 'R' || data[1] != (uint8_t)size) return;
  uint8_t sum = 0;
  for (size_t i = 2; i + 1 < size; i++) sum = (uint8_t)(sum + data[i]);
  if (sum == data[size - 1] && data[2] == 0x7f) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  shallow(data, size);
  behind_a_word(data, size);
  behind_a_checksum(data, size);
  return 0;
}

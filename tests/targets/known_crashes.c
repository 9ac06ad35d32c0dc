/* Crashes on what a corpus of known crashes has, and on nothing that a fuzzer makes soon. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static volatile const char words[] = "known crash";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t same = 0; /* in one loop, so that coverage does not lead there step by step */
  for (size_t i = 0; i < 11 && i < size; i++) same += data[i] == (uint8_t)words[i];
  if (same == 11) abort();
  return 0;
}

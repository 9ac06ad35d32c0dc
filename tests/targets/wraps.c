/* Hashes its input with unsigned arithmetic, which wraps and may; overflows where that is a bug. */
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

static uint32_t table[16];

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  for (uint32_t i = 0; i < 16; i++) table[i] = (i + 1) * 2654435761u;
  return 0;
}

static int overflow(int by) {
  volatile int most = INT_MAX;
  return most + by;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ data[i] ^ table[data[i] % 16]) * 16777619u;
  if (size > 1 && data[0] == '!' && data[1] == '?') return overflow(data[0]) == (int)hash ? 0 : 0;
  return 0;
}

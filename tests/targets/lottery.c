/* A mutation of known probabilities: input k (0 … 255) comes with probability (k+1)/32896, whatever
 * the seed, and shows an edge of its own. So the discovery probability is the share of what is not
 * seen yet, and can be computed from the inputs seen. */
#include "observer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

__attribute__((no_sanitize("coverage"))) size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  (void)size, (void)max_size;
  unsigned ticket = seed % 32896, k = 0;
  while (ticket >= k + 1) ticket -= ++k;
  data[0] = (uint8_t)k;
  return 1;
}

#define CASE(n) \
  case n: \
    __asm__ volatile("# %0" ::"i"(n)); \
    break;
#define CASES4(n) CASE(n) CASE(n + 1) CASE(n + 2) CASE(n + 3)
#define CASES16(n) CASES4(n) CASES4(n + 4) CASES4(n + 8) CASES4(n + 12)
#define CASES64(n) CASES16(n) CASES16(n + 16) CASES16(n + 32) CASES16(n + 48)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size) return 0;
  switch (data[0]) { CASES64(0) CASES64(64) CASES64(128) CASES64(192) }
  return 0;
}

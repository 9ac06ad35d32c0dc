/* Writes down how long its inputs are, and shows nothing, so that nothing is ever found. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *file;
  (void)data;
  if (!file) file = fopen("lengths.txt", "a");
  if (file) fprintf(file, "%zu\n", size), fflush(file);
  return 0;
}

#ifdef OWN_MUTATOR
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  (void)data, (void)size, (void)seed;
  return max_size;
}
#endif

/* Sleeps for every input that begins with an s. Its mutator leaves inputs as they are, so that those
 * of a slow seed are slow. */
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

static volatile unsigned sink;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  (void)data, (void)max_size, (void)seed;
  return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size && data[0] == 's') usleep(10000);
  if (size && data[0] == 'f') sink++;
  return 0;
}

/* Writes down a hash of every input, and has nothing to find: a campaign that is saturated. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int diary = -1;
  if (diary < 0) diary = open(getenv("DIARY"), O_WRONLY | O_APPEND | O_CREAT, 0600);
  uint64_t hash = 1469598103934665603u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ data[i]) * 1099511628211u;
  return write(diary, &hash, sizeof hash) < 0;
}

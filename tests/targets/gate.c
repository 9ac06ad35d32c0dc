/* A harness with some code behind a word that is not found by chance within a short test. */
#include <stdint.h>
#include <stddef.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t word[5] = {'d', 'e', 'e', 'p', ':'};
static volatile int sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 6) return 0;
  uint64_t seen = 0, wanted = 0;
  for (size_t i = 0; i < sizeof word; i++) {
    seen = seen * 257 + data[i];
    wanted = wanted * 257 + word[i];
  }
  if (seen * 2654435761u != wanted * 2654435761u) return 0;
  if (data[5] == 'a') sink++;
  if (size > 6 && data[6] > 'a') sink += 2;
  return 0;
}

/* Counts its runs in the file TALLY and has some code to explore; crashes unless CALM is set. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t *tally(void) {
  static volatile uint64_t *place;
  const char *name = getenv("TALLY");
  if (place || !name) return place;
  int file = open(name, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, 4096) != 0) abort();
  place = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return place;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static volatile int sink;
  if (tally()) ++*tally();
  for (size_t i = 0; i + 1 < size && i < 24; i++) {
    sink += data[i] > 10 * i ? 1 : 2;
    if (data[i] == 'f' && data[i + 1] == 'u') sink += 3;
  }
  if (size > 3 && data[0] == 'b' && data[1] == 'u' && data[2] == 'g' && !getenv("CALM")) abort();
  return 0;
}

/* Leaks, hangs or eats memory, as the variable GREEDY says, on inputs that begin with an x. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *volatile kept;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *how = getenv("GREEDY");
  volatile int always = 1;
  if (size == 0 || data[0] != 'x' || !how) return 0;
  if (!strcmp(how, "leak")) {
    kept = malloc(100);
    kept[0] = 1;
    kept = 0;
  }
  while (!strcmp(how, "timeout") && always) {}
  while (!strcmp(how, "out-of-memory") && always) memset(kept = malloc(1 << 22), 1, 1 << 22);
  return 0;
}

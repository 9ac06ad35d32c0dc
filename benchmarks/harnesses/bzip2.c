// bzip2: one-shot decompression.
#include <bzlib.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_INPUT (1u << 14)

static char output[1u << 16];

void bz_internal_error(int code) {
  (void)code;
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MAX_INPUT) return 0;
  unsigned length = sizeof output;
  BZ2_bzBuffToBuffDecompress(output, &length, (char *)data, (unsigned)size, 0, 0);
  return 0;
}

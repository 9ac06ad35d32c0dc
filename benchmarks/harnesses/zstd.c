// zstd: decompresses one frame into a buffer that is large enough for small ones.
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char out[1 << 16];
  ZSTD_decompress(out, sizeof out, data, size);
  return 0;
}

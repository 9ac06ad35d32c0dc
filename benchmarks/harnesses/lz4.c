// LZ4: decompresses frames (by their magic number), and anything else as a block.
#include <lz4.h>
#include <lz4frame.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_INPUT (1u << 16)
#define MAX_OUTPUT (1u << 20)
#define CHUNK (1u << 14)

static char output[MAX_OUTPUT];
static char chunk[CHUNK];
static char part[512];

static void frame(const uint8_t *data, size_t size) {
  LZ4F_dctx *context;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) return;
  size_t total = 0;
  while (total < MAX_OUTPUT) {
    size_t out = sizeof chunk, in = size;
    size_t hint = LZ4F_decompress(context, chunk, &out, data, &in, NULL);
    if (LZ4F_isError(hint) || (in == 0 && out == 0)) break;
    data += in;
    size -= in;
    total += out;
  }
  LZ4F_freeDecompressionContext(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MAX_INPUT) return 0;
  if (size >= 4 && data[2] == 0x4d && data[3] == 0x18) {
    frame(data, size);
  } else {
    const char *input = (const char *)data;
    LZ4_decompress_safe(input, output, (int)size, MAX_OUTPUT);
    LZ4_decompress_safe_partial(input, part, (int)size, 256, sizeof part);
  }
  return 0;
}

// brotli: decompresses a stream, in pieces of the size that the first byte says.
#include <brotli/decode.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_INPUT (1u << 14)
#define MAX_OUTPUT (1u << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint8_t out[4096];
  if (!size || size > MAX_INPUT) return 0;
  size_t piece = 1 + (size_t)data[0] * 8, total = 0;
  data++, size--;
  BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
  if (!state) return 0;
  BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT;
  while (total < MAX_OUTPUT) {
    size_t given = size < piece ? size : piece, left = given, room = sizeof out;
    uint8_t *next = out;
    result = BrotliDecoderDecompressStream(state, &left, &data, &room, &next, &total);
    size -= given - left;
    if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT ? !size
                                                         : result != BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT)
      break;
  }
  BrotliDecoderDestroyInstance(state);
  return 0;
}

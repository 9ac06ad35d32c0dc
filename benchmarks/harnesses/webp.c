// webp: decodes a small picture, scaled or dithered by its length.
#include <stdint.h>
#include <webp/decode.h>

#define MAX_PIXELS (128 * 128)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) return 0;
  if (WebPGetFeatures(data, size, &config.input) != VP8_STATUS_OK) return 0;
  if ((size_t)config.input.width * (size_t)config.input.height > MAX_PIXELS) return 0;
  config.output.colorspace = size & 1 ? MODE_RGBA : MODE_YUVA;
  if (size & 2) {
    config.options.use_scaling = 1;
    config.options.scaled_width = 9;
    config.options.scaled_height = 7;
  }
  if (size & 4) config.options.dithering_strength = 50;
  WebPDecode(data, size, &config);
  WebPFreeDecBuffer(&config.output);
  return 0;
}

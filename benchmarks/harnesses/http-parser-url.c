// http-parser: takes an address to pieces.
#include <http_parser.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_INPUT 1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct http_parser_url url;
  if (!size || size > MAX_INPUT) return 0;
  http_parser_url_init(&url);
  http_parser_parse_url((const char *)data + 1, size - 1, data[0] & 1, &url);
  return 0;
}

// http-parser: reads requests and answers in two pieces, and the addresses in them.
#include <http_parser.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_INPUT 4096

static int none(http_parser *parser) { return (void)parser, 0; }
static int some(http_parser *parser, const char *at, size_t length) {
  return (void)parser, (void)at, (void)length, 0;
}
static int address(http_parser *parser, const char *at, size_t length) {
  struct http_parser_url url;
  http_parser_url_init(&url);
  http_parser_parse_url(at, length, parser->method == HTTP_CONNECT, &url);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const http_parser_settings settings = {
      .on_message_begin = none, .on_url = address, .on_status = some, .on_header_field = some,
      .on_header_value = some, .on_headers_complete = none, .on_body = some,
      .on_message_complete = none, .on_chunk_header = none, .on_chunk_complete = none};
  http_parser parser;
  if (size > MAX_INPUT) return 0;
  http_parser_init(&parser, HTTP_BOTH);
  size_t half = size / 2;
  if (http_parser_execute(&parser, &settings, (const char *)data, half) == half)
    http_parser_execute(&parser, &settings, (const char *)data + half, size - half);
  return 0;
}

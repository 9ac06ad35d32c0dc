// cmark: renders CommonMark to HTML.
#include <cmark.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Some texts take quadratic time.
#define MAX_INPUT (1u << 14)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MAX_INPUT) return 0;
  int options = CMARK_OPT_SOURCEPOS | CMARK_OPT_SMART | CMARK_OPT_VALIDATE_UTF8;
  free(cmark_markdown_to_html((const char *)data, size, options));
  return 0;
}

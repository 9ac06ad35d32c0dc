// PCRE2: compiles a pattern, with options of the first two bytes, and matches it with what is behind a line end.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pcre2_chartables.h"

#define MAX_INPUT 1024

static const uint32_t OPTIONS[16] = {
    PCRE2_CASELESS, PCRE2_MULTILINE,  PCRE2_DOTALL,           PCRE2_EXTENDED, PCRE2_ANCHORED,    PCRE2_UNGREEDY,
    PCRE2_UTF,      PCRE2_UCP,        PCRE2_NO_AUTO_CAPTURE,  PCRE2_DUPNAMES, PCRE2_ALT_CIRCUMFLEX, PCRE2_EXTENDED_MORE,
    PCRE2_LITERAL,  PCRE2_FIRSTLINE,  PCRE2_MATCH_UNSET_BACKREF, PCRE2_AUTO_CALLOUT,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2 || size > MAX_INPUT) return 0;
  uint32_t options = 0;
  for (int bit = 0; bit < 16; bit++)
    if (data[bit / 8] >> (bit % 8) & 1) options |= OPTIONS[bit];
  const uint8_t *pattern = data + 2, *end = data + size;
  const uint8_t *line = memchr(pattern, '\n', size - 2);
  const uint8_t *subject = line ? line + 1 : pattern;
  int error;
  PCRE2_SIZE where;
  pcre2_code *code = pcre2_compile(pattern, (size_t)((line ? line : end) - pattern), options, &error, &where, NULL);
  if (!code) return 0;
  pcre2_match_context *limits = pcre2_match_context_create(NULL);
  pcre2_set_match_limit(limits, 2000);
  pcre2_set_depth_limit(limits, 200);
  pcre2_set_heap_limit(limits, 1024);
  pcre2_match_data *match = pcre2_match_data_create_from_pattern(code, NULL);
  if (match) pcre2_match(code, subject, (size_t)(end - subject), 0, 0, match, limits);
  pcre2_match_data_free(match);
  pcre2_match_context_free(limits);
  pcre2_code_free(code);
  return 0;
}

// oniguruma: options, the length of a pattern, the pattern, and the text that is searched.
#include <oniguruma.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_INPUT 600

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
  onig_initialize(encodings, 1);
  onig_set_retry_limit_in_match(2000);
  onig_set_retry_limit_in_search(4000);
  onig_set_match_stack_limit_size(2000);
  onig_set_parse_depth_limit(100);
  onig_set_subexp_call_limit_in_search(500);
  onig_set_subexp_call_max_nest_level(8);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3 || size > MAX_INPUT) return 0;
  size_t length = data[1] < size - 2 ? data[1] : size - 2;
  const OnigUChar *pattern = data + 2, *text = pattern + length, *end = data + size;
  if (!onigenc_is_valid_mbc_string(ONIG_ENCODING_UTF8, pattern, text)) return 0;
  if (!onigenc_is_valid_mbc_string(ONIG_ENCODING_UTF8, text, end)) return 0;
  OnigOptionType options = ONIG_OPTION_NONE;
  if (data[0] & 1) options |= ONIG_OPTION_IGNORECASE;
  if (data[0] & 2) options |= ONIG_OPTION_EXTEND;
  if (data[0] & 4) options |= ONIG_OPTION_MULTILINE;
  if (data[0] & 8) options |= ONIG_OPTION_FIND_LONGEST;
  OnigSyntaxType *syntax = data[0] & 16   ? ONIG_SYNTAX_RUBY
                           : data[0] & 32 ? ONIG_SYNTAX_PERL_NG
                                          : ONIG_SYNTAX_ONIGURUMA;
  regex_t *compiled = NULL;
  OnigErrorInfo info;
  if (onig_new(&compiled, pattern, text, options, ONIG_ENCODING_UTF8, syntax, &info)) return 0;
  OnigRegion *region = onig_region_new();
  onig_search(compiled, text, end, text, end, region, ONIG_OPTION_NONE);
  if (data[0] & 64) onig_search(compiled, text, end, end, text, region, ONIG_OPTION_NONE);
  onig_region_free(region, 1);
  onig_free(compiled);
  return 0;
}

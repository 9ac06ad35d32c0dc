// utf8proc: the text in several normal forms.
#include <stdint.h>
#include <stdlib.h>
#include <utf8proc.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int forms[] = {
      UTF8PROC_STABLE | UTF8PROC_COMPOSE,
      UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT,
      UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE,
      UTF8PROC_DECOMPOSE | UTF8PROC_STRIPMARK | UTF8PROC_LUMP | UTF8PROC_STRIPCC,
      UTF8PROC_CHARBOUND | UTF8PROC_NLF2LF | UTF8PROC_STRIPCC,
  };
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    utf8proc_uint8_t *made = NULL;
    utf8proc_map(data, (utf8proc_ssize_t)size, &made, forms[i]);
    free(made);
  }
  return 0;
}

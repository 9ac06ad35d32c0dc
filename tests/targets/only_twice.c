/* Ends badly when it is given an input a second time in a row, and not when it runs once: with HANG
 * it never returns, otherwise it aborts. The input begins with a word, so that it is the one that
 * matters. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink;

__attribute__((no_sanitize("coverage"), noinline)) static void end(void) {
#ifdef HANG
  for (;;) pause();
#else
  abort();
#endif
}

/* No coverage of its own: the input looks new for what comes behind. */
__attribute__((no_sanitize("coverage"), noinline)) static void remember(const uint8_t *data,
                                                                        size_t size) {
  static uint8_t last[64];
  static size_t length;
  if (size < 2 || size > sizeof last) return;
  if (size == length && memcmp(last, data, size) == 0 && data[0] == 'b') end();
  memcpy(last, data, length = size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  remember(data, size);
  if (size > 1 && data[0] == 'b') sink++;
  if (size > 2 && data[1] == 'c') sink += 2;
  return 0;
}

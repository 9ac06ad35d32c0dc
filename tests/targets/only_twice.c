/* Ends badly when it is given an input that begins with a b a second time in a row, and not when it
 * runs once: with HANG it never returns, otherwise it aborts. With SLOW it does neither, but takes
 * its time for every input that is not empty. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink;

__attribute__((no_sanitize("coverage"), noinline)) static void end(void) {
#if defined(SLOW)
#elif defined(HANG)
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
#ifdef SLOW
  for (unsigned rounds = size ? 45 : 0; rounds; rounds--) usleep(10000);
#endif
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

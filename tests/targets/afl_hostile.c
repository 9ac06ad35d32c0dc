/* Leaves processes running, prints escape codes, and crashes with some in its report. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int runs;
  if (runs++ % 500 == 0 && fork() == 0) {
    setsid();
    for (;;) pause();
  }
  if (runs % 50 == 0) fprintf(stderr, "\x1b]0;owned\x07\x1b[31m%d\n", runs);
  if (size > 1 && data[0] == 'k' && data[1] > 'd') {
    fprintf(stderr, "==1==ERROR: AddressSanitizer: \x1b[2Jheap-use-after-free on address\n"
                    "    #0 0x1 in \x1b[31mwiped /a.c:1:1\n");
    abort();
  }
  return 0;
}

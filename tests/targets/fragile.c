/* A harness for libFuzzer that crashes often, in four places, and has some code to explore. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEEP __attribute__((noinline))
static volatile int sink;

static KEEP void wrong_address(void) { *(volatile int *)8 = 1; }
static KEEP void gives_up(void) { abort(); }
static KEEP void wrong_again(void) { *(volatile int *)16 = 2; }
static KEEP void wrong_once_more(void) { *(volatile int *)24 = 3; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (size_t i = 0; i + 1 < size && i < 16; i++) {
    sink += data[i] > 16 * i ? 1 : 2;
    if (data[i] == 'k' && data[i + 1] == 'i') gives_up();
    if (data[i] == 'k' && data[i + 1] > 250) wrong_again();
  }
  if (size > 3 && data[0] == 'x' && data[1] > 200) wrong_address();
  if (size > 4 && data[2] == data[3] && data[3] == data[4] && data[2] == 7) wrong_once_more();
  return 0;
}

/* Prints with every input. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (int i = 0; i < 20; i++)
    fprintf(stderr, "warning: %d: an input of %zu bytes has something that nobody expected\n", i, size);
  return size > 3 && data[0] == 'l' && data[1] == 'o';
}

/* The first listing of RR: four bytes, one after the other, lead to a bug. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 0 && data[0] == 'b')
    if (size > 1 && data[1] == 'a')
      if (size > 2 && data[2] == 'd')
        if (size > 3 && data[3] == '!') abort();
  return 0;
}

/* Branches of all kinds, some of them rare: something to find for targets that write down what they
 * showed. */
#ifndef BRANCHES_H
#define BRANCHES_H

#include <stddef.h>
#include <stdint.h>

static volatile unsigned sink;

static unsigned branches(const uint8_t *data, size_t size) {
  unsigned state = 0;
  for (size_t i = 0; i < size && i < 40; i++) {
    switch (data[i] & 15) {
    case 0: state += 1; break;
    case 1: state *= 3; break;
    case 2: if (state > 7) state -= 7; break;
    case 3: if (i > 4) state ^= 21; break;
    case 4: if (data[i] > 200) state = 0; break;
    case 5: for (unsigned k = 0; k < (data[i] >> 4); k++) state++; break;
    case 6: if (size > 8 && data[0] == data[size - 1]) state += 11; break;
    case 7: if (state == 13) state = 99; break;
    default: state += 2;
    }
  }
  if (state == 99) sink++;
  if (size > 3 && data[1] == 'x' && data[2] > 100) sink += 2;
  return state;
}

#endif

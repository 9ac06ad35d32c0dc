/* Bit flips with a mutation ratio, as zzuf and CERT BFF do it.

   Only additions, products, quotients and square roots of doubles are used: IEEE 754 fixes their
   results, so that an input is the same on every machine; libm's log and exp do not promise that. */
#include "mutate.h"

#include <string.h>

/* The natural logarithm of a positive, normal number: ln(2^e m) = e ln 2 + 2 artanh((m-1)/(m+1)). */
static double natural_log(double value) {
  uint64_t word;
  memcpy(&word, &value, sizeof word);
  int exponent = (int)(word >> 52) - 1023;
  word = (word & 0xfffffffffffffu) | (uint64_t)1023 << 52;
  memcpy(&value, &word, sizeof value);
  if (value > 1.4142135623730951) {
    value /= 2;
    exponent++;
  }
  double z = (value - 1) / (value + 1), square = z * z, sum = 0;
  for (int odd = 21; odd >= 1; odd -= 2) sum = sum * square + 1.0 / odd;
  return exponent * 0.6931471805599453 + 2 * z * sum;
}

/* Log-uniform in [low, high]: low (high/low)^u, where u has 24 binary digits, each a square root. */
static double drawn_ratio(struct fw_random *random, double low, double high) {
  uint64_t digits = fw_random_next(random) >> 40;
  if (low >= high) return low;
  double factor = high / low, ratio = low;
  for (int i = 23; i >= 0; i--) {
    factor = __builtin_sqrt(factor);
    if (digits >> i & 1) ratio *= factor;
  }
  return ratio < high ? ratio : high;
}

static void flip(struct fw_buffer *b, uint64_t bit) {
  b->data[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

/* Each bit flips with the probability that was drawn; the gaps in between are geometric. Where no
   bit would flip, one does: a run of the unchanged seed tells nothing. */
void fw_flip_bits(struct fw_buffer *b, struct fw_random *random, double low, double high) {
  uint64_t bits = b->length * 8, flipped = 0;
  double ratio = drawn_ratio(random, low, high);
  double scale = ratio < 1 ? natural_log(1 - ratio) : -1;
  for (uint64_t bit = 0; bit < bits && scale < 0; bit++) {
    double gap = ratio < 1 ? natural_log(fw_random_unit(random)) / scale : 0;
    if (gap >= (double)(bits - bit)) break;
    bit += (uint64_t)gap;
    flip(b, bit);
    flipped++;
  }
  if (!flipped && bits) flip(b, fw_random_below(random, bits));
}

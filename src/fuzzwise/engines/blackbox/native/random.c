/* Random numbers that depend on (random seed, run) alone: xoshiro256** started by splitmix64. */
#include "mutate.h"

static uint64_t mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

void fw_random_start(struct fw_random *random, uint64_t random_seed, uint64_t run) {
  const uint64_t step = 0x9e3779b97f4a7c15u;
  uint64_t counter = mixed(mixed(random_seed + step) + run * step);
  for (int i = 0; i < 4; i++) random->state[i] = mixed(counter += step);
}

static uint64_t rotated(uint64_t value, int by) { return value << by | value >> (64 - by); }

uint64_t fw_random_next(struct fw_random *random) {
  uint64_t *s = random->state, result = rotated(s[1] * 5, 7) * 9, shifted = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= shifted;
  s[3] = rotated(s[3], 45);
  return result;
}

uint64_t fw_random_below(struct fw_random *random, uint64_t bound) {
  return (uint64_t)(((unsigned __int128)fw_random_next(random) * bound) >> 64);
}

double fw_random_unit(struct fw_random *random) {
  return (double)((fw_random_next(random) >> 11) + 1) * 0x1p-53;
}

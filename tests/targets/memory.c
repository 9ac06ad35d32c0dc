/* Counts for 20,000 seeds and 200,000 features, without a fuzzer: how much room they take. */
#include "observer.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  enum { SEEDS = 20000, FEATURES = 200000, COMMON = 4000, RARE = 400 };
  uint64_t random = 1, shown[COMMON + RARE];
  if (argc != 2) return 1;
  fw_open(argv[1]);
  fw_head->features = FEATURES;
  fw_head->per_seed = 1;
  fw_need(&fw_features, FEATURES);
  fw_need(&fw_holder_of, FEATURES * sizeof(uint32_t));
  fw_need(&fw_windows, FEATURES * 3 * sizeof(uint32_t));
  for (uint64_t t = 0; t < SEEDS; t++) {
    for (unsigned i = 0; i < COMMON; i++) shown[i] = i;
    for (unsigned i = 0; i < RARE; i++) {
      random = random * 6364136223846793005ull + 1442695040888963407ull;
      shown[COMMON + i] = COMMON + (random >> 33) % (FEATURES - COMMON);
    }
    fw_lock();
    if (t) fw_count_local(t - 1, shown, COMMON + RARE);
    uint64_t fresh = t * 10 % FEATURES;
    fw_add_seed((const uint8_t *)"seed", 4, &fresh, 1);
    fw_unlock();
  }
  printf("%d\n", (int)fw_head->local_off);
  return 0;
}

/* A process that dies while it marks an edge as unstable: only some of its features are marked, and
 * recovery has to complete it. */
#include "observer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 64 };

static void print(void) {
  printf("%d %d %d %d", (int)fw_head->species, (int)fw_head->k, (int)fw_head->edges,
         (int)fw_head->unstable);
  for (int i = 0; i < 4; i++) printf(" %d", (int)fw_head->f[i]);
  for (uint64_t t = 0; t < fw_head->seeds; t++)
    printf(" %d/%d", (int)fw_seed(t)->k, (int)fw_seed(t)->g);
  for (int i = 0; i < FEATURES; i++) printf(" %d", fw_feature()[i]);
  printf("\n");
}

int main(int argc, char **argv) {
  uint64_t shown[] = {1, 8, 11, 16}, later[] = {1, 16, 24}, unstable[] = {1};
  if (argc != 3) return 1;
  int marked = atoi(argv[2]);
  fw_open(argv[1]);
  fw_head->features = FEATURES;
  fw_need(&fw_features, FEATURES);
  fw_need(&fw_holder_of, FEATURES * sizeof(uint32_t));
  fw_lock();
  fw_add_seed((const uint8_t *)"a", 1, NULL, 0);
  fw_count(1, 0, shown, 4, (const uint8_t *)"b", 1);
  fw_count(2, 1, later, 3, (const uint8_t *)"c", 1);
  uint8_t before[FEATURES];
  memcpy(before, fw_feature(), FEATURES);
  fw_count_rerun(unstable, 1, 1);
  fw_unlock();
  print();
  memcpy(fw_feature() + 8 + marked, before + 8 + marked, (size_t)(8 - marked));
  fw_recover();
  print();
  return 0;
}

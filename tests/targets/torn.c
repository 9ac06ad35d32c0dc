/* A process that dies in the middle of counting an input: the counts of the input are put back half,
 * with the journal still standing, and recovery has to bring all of them to what they were. */
#include "observer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 64 };

static void print(const char *name) {
  printf("%s", name);
  printf(" %d %d %d %d %d", (int)fw_head->inputs, (int)fw_head->species, (int)fw_head->k,
         (int)fw_head->discoveries, (int)fw_head->seeds);
  for (int i = 0; i < 4; i++) printf(" %d", (int)fw_head->f[i]);
  for (uint64_t t = 0; t < fw_head->seeds; t++)
    printf(" %d/%d/%d", (int)fw_seed(t)->inputs, (int)fw_seed(t)->k, (int)fw_seed(t)->g);
  for (int i = 0; i < FEATURES; i++) printf(" %d", fw_feature()[i]);
  printf("\n");
}

int main(int argc, char **argv) {
  uint64_t first[] = {1, 2, 3}, second[] = {2, 3, 4, 5, 6};
  if (argc != 3) return 1;
  int applied = atoi(argv[2]);
  fw_open(argv[1]);
  fw_head->features = FEATURES;
  fw_need(&fw_features, FEATURES);
  fw_need(&fw_holder_of, FEATURES * sizeof(uint32_t));
  fw_lock();
  fw_add_seed((const uint8_t *)"a", 1, NULL, 0);
  fw_seed(0)->inputs = fw_head->inputs = 1;
  fw_count(1, 0, first, 3, (const uint8_t *)"b", 1);
  fw_unlock();
  uint8_t before[FEATURES];
  memcpy(before, fw_feature(), FEATURES);
  uint64_t seeds = fw_head->seeds, used = fw_head->data_used, found = fw_head->discoveries;
  uint64_t added = fw_head->added, holders = fw_head->holders;

  fw_head->slots[0] = (struct fw_slot){.state = FW_COUNTING, .seed = 0, .seed_inputs = 1};
  fw_lock();
  fw_seed(0)->inputs = fw_head->inputs = 2;
  fw_count(2, 0, second, 5, (const uint8_t *)"cc", 2);
  fw_unlock();
  print("whole");

  /* Dead after `applied` of the five features: the rest, and all that follows, has not happened. */
  for (int i = applied; i < 5; i++) {
    fw_feature()[second[i]] = before[second[i]];
    ((uint32_t *)(void *)fw_holder_of.base)[second[i]] = 0;
  }
  fw_head->seeds = seeds, fw_head->data_used = used, fw_head->discoveries = found;
  fw_head->added = added, fw_head->holders = holders;
  fw_head->journal_valid = 1;
  fw_recover();
  print("whole");
  return 0;
}

/* An input of a job from its beginning to its end. Its slot says before it runs which seed it comes
 * from, so that one that ends its process is counted, too. */
#include "observer.h"

void fw_begin_input(uint64_t seed) {
  struct fw_slot *slot = &fw_head->slots[fw_job];
  slot->seed = (uint32_t)seed;
  slot->measuring = fw_head->measure_left > 0;
  slot->seed_inputs = fw_seed(seed)->inputs;
  __atomic_store_n(&slot->state, FW_RUNNING, __ATOMIC_RELEASE);
}

/* The input is over: count it, and the features that it showed; its slot says so already. Whether a
 * data point is reached. */
int fw_count_input(const uint64_t *shown, size_t n_shown, const uint8_t *data, size_t size) {
  struct fw_slot *slot = &fw_head->slots[fw_job];
  uint64_t number = __atomic_add_fetch(&fw_head->inputs, 1, __ATOMIC_ACQ_REL);
  if (fw_jobs == 1)
    fw_seed(slot->seed)->inputs = slot->seed_inputs + 1;
  else
    __atomic_add_fetch(&fw_seed(slot->seed)->inputs, 1, __ATOMIC_ACQ_REL);
  if (n_shown) {
    fw_lock();
    if (fw_head->per_seed) fw_count_local(slot->seed, shown, n_shown);
    fw_count(number, slot->seed, shown, n_shown, data, size);
    fw_unlock();
  }
  slot->state = FW_IDLE;
  return number >= fw_head->next_point;
}

/* The input that a job was at when it died: it counts, whatever it would have shown. With one job
 * an absolute value counts it exactly once; with more, one that died within the few instructions of
 * counting it may be lost. */
void fw_recover_slot(unsigned job) {
  struct fw_slot *slot = &fw_head->slots[job];
  if (slot->state == FW_IDLE) return;
  if (slot->measuring) {
    if (fw_head->measure_left) fw_head->measure_left--;
  } else if (slot->seed < fw_head->seeds) {
    struct fw_seed *s = fw_seed(slot->seed);
    if (fw_jobs == 1) {
      s->inputs = slot->seed_inputs + 1;
    } else if (slot->state == FW_RUNNING) {
      __atomic_add_fetch(&s->inputs, 1, __ATOMIC_ACQ_REL);
      __atomic_add_fetch(&fw_head->inputs, 1, __ATOMIC_ACQ_REL);
    }
  }
  if (slot->state == FW_RUNNING) __atomic_add_fetch(&fw_head->lost, 1, __ATOMIC_ACQ_REL);
  slot->state = FW_IDLE;
}

/* Logs every run with its raw coverage counters, so that a test can count everything again.
 * It also crashes now and then, and with RANDOM it does not do the same twice. */
#include "branches.h"
#include "libfuzzer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_sanitize("coverage"), noinline))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int log_fd = -1;

UNSEEN static void log_begin(void) {
  char line[128];
  if (log_fd < 0) log_fd = open(getenv("RECOUNT_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0666);
  const struct fw_slot *slot = &fw_head->slots[fw_job];
  int mutated = slot->state == FW_RUNNING;
  int length = snprintf(line, sizeof line, "%c %d %u %u\n", fw_again ? 'A' : 'B', mutated,
                        slot->seed, slot->measuring);
  if (write(log_fd, line, (size_t)length) != length) _exit(1);
}

UNSEEN static void log_end(void) {
  static char line[1 << 20];
  size_t used = 1;
  line[0] = 'E';
  for (uint8_t *p = fw_modules[0].start; p < fw_modules[0].stop; p++)
    if (*p)
      used += (size_t)snprintf(line + used, sizeof line - used, " %zu:%d",
                               (size_t)(p - fw_modules[0].start), *p);
  line[used++] = '\n';
  if (write(log_fd, line, used) != (ssize_t)used) _exit(1);
}

#ifdef RANDOM
UNSEEN static uint64_t by_the_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t z = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15ull;
  return (z ^ z >> 31) * 0xbf58476d1ce4e5b9ull >> 8;
}

static void gamble(void) {
  uint64_t z = by_the_clock();
  if (z % 512 == 3) sink++;
  if (z % 64 == 5) sink += 3;
  if (z % 2 == 1)
    for (unsigned k = z >> 20 & 63; k; k--) sink += k;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  log_begin();
#ifdef RANDOM
  gamble();
#endif
  unsigned state = branches(data, size);
  if (size > 6 && data[3] == 7 && state % 5 == 1) abort();
  sink += state;
  log_end();
  return 0;
}

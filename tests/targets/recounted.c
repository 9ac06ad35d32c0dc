/* Logs every run with its raw coverage counters, so that a test can count everything again.
 * It also crashes now and then. */
#include "libfuzzer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_sanitize("coverage"), noinline))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int log_fd = -1;

UNSEEN static void log_begin(void) {
  char line[128];
  if (log_fd < 0) log_fd = open(getenv("RECOUNT_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0666);
  const struct fw_slot *slot = &fw_head->slots[fw_job];
  int mutated = slot->state == FW_RUNNING;
  int length = snprintf(line, sizeof line, "B %d %u %u\n", mutated, slot->seed, slot->measuring);
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

static volatile unsigned sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  log_begin();
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
  if (size > 6 && data[3] == 7 && state % 5 == 1) abort();
  sink += state;
  log_end();
  return 0;
}

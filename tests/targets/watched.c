/* Counts what a fuzzer does to a target, in a file that all its processes share ($WATCHED): the
 * independent count that readings of the fuzzer's own files are compared with. Linked beside a
 * harness whose LLVMFuzzerTestOneInput was renamed to watched_target; not instrumented itself. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int watched_target(const uint8_t *data, size_t size);

extern uint8_t __start___sancov_cntrs[] __attribute__((weak));
extern uint8_t __stop___sancov_cntrs[] __attribute__((weak));

enum { MOST = 1 << 16, FEATURES = 1 << 16, KEPT = 1 << 12 };

struct counts {
  uint64_t executions;   /* all of them */
  uint64_t repeats;      /* of the very input that came before: calibration */
  uint64_t discoveries;  /* that showed a feature for the first time in the campaign */
  uint64_t at[MOST];     /* and their numbers among all executions */
  uint8_t seen[FEATURES];
  uint64_t last_size;
  uint8_t last[KEPT];
};

static struct counts *shared(void) {
  static struct counts *counts;
  if (!counts) {
    const char *path = getenv("WATCHED");
    int file = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;
    if (file < 0 || ftruncate(file, sizeof *counts)) abort();
    counts = mmap(0, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
  }
  return counts;
}

static unsigned bucket(uint8_t count) {
  static const uint8_t from[] = {2, 3, 4, 8, 16, 32, 128};
  unsigned at = 0;
  while (at < sizeof from && count >= from[at]) at++;
  return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct counts *counts = shared();
  if (size < KEPT && size == counts->last_size && !memcmp(data, counts->last, size))
    __atomic_add_fetch(&counts->repeats, 1, __ATOMIC_RELAXED);
  if (size < KEPT) memcpy(counts->last, data, size);
  counts->last_size = size;
  uint64_t number = __atomic_add_fetch(&counts->executions, 1, __ATOMIC_RELAXED);
  int result = watched_target(data, size), is_new = 0;
  for (uint8_t *counter = __start___sancov_cntrs; counter < __stop___sancov_cntrs; counter++) {
    if (!*counter) continue;
    uint8_t *seen = &counts->seen[(counter - __start___sancov_cntrs) * 8 + bucket(*counter)];
    is_new |= !*seen;
    *seen = 1;
  }
  if (is_new && counts->discoveries < MOST) counts->at[counts->discoveries++] = number;
  return result;
}

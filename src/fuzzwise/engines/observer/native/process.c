/* The process that the observer is in: its settings, its clock, its memory, its files and its end. */
#include "observer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define HIGH_DESCRIPTOR 300

static uint64_t earlier_ms, started_ms;

_Noreturn void fw_fail(const char *what, const char *name) {
  fprintf(stderr, "fuzzwise: %s: %s (%s)\n", what, name, strerror(errno));
  _exit(FW_EXIT_STATE);
}

/* A supervisor that has started us: nobody would stop us, or count what we do, without it. */
void fw_die_with_supervisor(void) {
  const char *parent = getenv("FUZZWISE_PARENT");
  if (!parent) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (atoi(parent) != getppid()) _exit(FW_EXIT_STATE);
}

uint64_t fw_setting(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* A list that has room for more; what was in it is still there. */
void *fw_grow(void *list, size_t bytes, const char *name) {
  list = realloc(list, bytes);
  if (!list) fw_fail("out of memory", name);
  return list;
}

uint64_t fw_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t clock_ms(void) { return fw_nanoseconds() / 1000000; }

uint64_t fw_milliseconds(void) { return earlier_ms + clock_ms() - started_ms; }

void fw_start_clock(void) { fw_set_clock(fw_setting("FUZZWISE_MILLISECONDS", 0), clock_ms()); }

/* For a fuzzer that is stopped for a while, and goes on. */
void fw_set_clock(uint64_t milliseconds, uint64_t since) {
  earlier_ms = milliseconds;
  started_ms = since;
}

/* Descriptors out of the way of a target that closes what it finds. */
int fw_open_file(const char *path) {
  int low = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (low < 0) return low;
  int high = fcntl(low, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
  if (high < 0) return low;
  close(low);
  return high;
}

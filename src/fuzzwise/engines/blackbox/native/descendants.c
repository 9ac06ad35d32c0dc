/* Everything that a run started: found through /proc, ended until nothing is left.

   The caller is a child subreaper: whatever loses its parent becomes its child, so that waitpid
   tells for certain (ECHILD) when nothing is left. Where the caller is the first process of a
   PID namespace of its own, one call ends all others at once, even those that fork without end. */
#define _GNU_SOURCE
#include "blackbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 4096 };

static pid_t found[MOST];
static size_t count;

static ssize_t slurp(const char *path, char *text, size_t room) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t got = 0, more;
  while ((more = read(file, text + got, room - 1 - (size_t)got)) > 0) got += more;
  close(file);
  text[got] = 0;
  return got;
}

static void add_children(const char *path, size_t most) {
  static char text[1 << 16];
  if (slurp(path, text, sizeof text) <= 0) return;
  for (char *at = text, *end; count < most; at = end) {
    long pid = strtol(at, &end, 10);
    if (end == at) return;
    if (*end == ' ') found[count++] = (pid_t)pid; /* without it the text was cut off */
  }
}

/* Children of each process's first thread; those of others come up when their parent ends. The
   numbers are those of /proc, which belong to the namespace outside. */
static void find(size_t most) {
  char path[64];
  count = 0;
  add_children("/proc/thread-self/children", most);
  for (size_t i = 0; i < count; i++) {
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", found[i], found[i]);
    add_children(path, most);
  }
}

struct fw_usage fw_descendants_usage(uint64_t most) {
  char path[64], text[128];
  struct fw_usage usage = {0, 0};
  find(most < MOST ? most : MOST);
  for (size_t i = 0; i < count; i++) {
    unsigned long resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", found[i]);
    if (slurp(path, text, sizeof text) <= 0 || sscanf(text, "%*u %lu", &resident) != 1) continue;
    usage.memory += resident * (uint64_t)sysconf(_SC_PAGESIZE);
    usage.processes++;
  }
  return usage;
}

void fw_end_descendants(pid_t group) {
  const struct timespec pause = {0, 200000};
  for (;;) {
    if (getpid() == 1) {
      kill(-1, SIGKILL);
    } else {
      if (group > 0) kill(-group, SIGKILL);
      find(MOST);
      for (size_t i = 0; i < count; i++) kill(found[i], SIGKILL);
    }
    pid_t ended;
    while ((ended = waitpid(-1, NULL, WNOHANG | __WALL)) > 0) continue;
    if (ended < 0 && errno == ECHILD) return;
    nanosleep(&pause, NULL);
  }
}

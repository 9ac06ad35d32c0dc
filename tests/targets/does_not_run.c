/* One harness that is broken in as many ways as it has names: it does what it is called. */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static char name[256];
static volatile int always = 1;

static int is(const char *what) { return strcmp(name, what) == 0; }

static void wait_for_ever(void) {
  while (always) sleep(100);
}

/* Since the first input. */
static double seconds(void) {
  static struct timespec first;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!first.tv_sec) first = now;
  return now.tv_sec - first.tv_sec + (now.tv_nsec - first.tv_nsec) / 1e9;
}

__attribute__((constructor)) static void before_main(void) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  snprintf(name, sizeof name, "%s", strrchr(path, '/') + 1);
  if (is("dies-before-main")) raise(SIGSEGV);
  if (is("waits-before-main")) wait_for_ever();
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  if (is("waits-at-start")) wait_for_ever();
  while (is("loops-at-start") && always) {}
  if (is("exits-at-start")) fprintf(stderr, "no license file\n"), exit(0);
  if (is("fails-at-start")) fprintf(stderr, "no configuration\n"), exit(3);
  if (is("aborts-at-start")) abort();
  if (is("stops-at-start")) raise(SIGSTOP);
  if (is("silent-at-start")) {
    for (int i = 0; i < 64; i++) close(i);
    wait_for_ever();
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int steps = 0;
  for (size_t i = 0; i < size && i < 64; i++) {
    if (data[i] != (uint8_t)('a' + i % 26)) break;
    steps++;
  }
  while (is("loops") && always) {}
  if (is("waits")) wait_for_ever();
  if (is("leaves")) _exit(0);
  if (is("leaves-later") && seconds() > 1) _exit(3);
  if (is("alarmed-later") && seconds() > 1) signal(SIGALRM, SIG_DFL), raise(SIGALRM);
  while (is("loops-later") && seconds() > 0.3) {}
  if (is("deaf-later") && seconds() > 0.3) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    wait_for_ever();
  }
  if (is("mute")) close(1), close(2);
  if (is("exits")) exit(0);
  if (is("aborts")) abort();
  if (is("kills-itself")) raise(SIGKILL);
  if (is("stops")) raise(SIGSTOP);
  if (is("eats-memory"))
    while (always) memset(malloc(1 << 20), 1, 1 << 20);
  if (is("slow")) usleep(100000);
  if (is("forks")) {
    if (fork() == 0) wait_for_ever();
  }
  return steps > 100;
}

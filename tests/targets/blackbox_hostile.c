/* Programs that nobody wants to run: blackbox_hostile DEED INPUT. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void sleep_forever(void) {
  for (;;) pause();
}

static void read_input(const char *path) {
  char data[64];
  int file = open(path, O_RDONLY);
  if (file >= 0 && read(file, data, sizeof data) < 0) _exit(9);
  close(file);
}

static void daemons(void) { /* three of them, each in a session of its own */
  for (int i = 0; i < 3; i++)
    if (fork() == 0) {
      setsid();
      if (fork() == 0) {
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        setsid();
        sleep_forever();
      }
      _exit(0);
    }
}

/* Bounded, in case that nothing else bounds it. */
static void bomb(int with_sessions) {
  volatile int *forks = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (;;) {
    if (__sync_add_and_fetch(forks, 1) > 3000) sleep_forever();
    pid_t child = fork();
    if (child < 0) sleep_forever();
    if (child == 0 && with_sessions) setsid();
  }
}

/* Past any library. */
static void raw_bomb(void) {
  for (int i = 0; i < 9; i++) syscall(SYS_fork);
  sleep_forever();
}

static void fill_disk(void) { /* with 300 MiB, in case that nothing stops it */
  static char block[1 << 16];
  memset(block, 'x', sizeof block);
  for (int i = 0; i < 300; i++) {
    char name[4096];
    snprintf(name, sizeof name, "%s/filler-%d", i % 2 ? "." : getenv("TMPDIR"), i);
    int file = open(name, O_WRONLY | O_CREAT, 0600);
    for (int j = 0; j < 16 && write(file, block, sizeof block) > 0; j++) continue;
    close(file);
  }
  sleep_forever();
}

static void deep_folders(void) {
  for (int i = 0; i < 300; i++) {
    if (mkdir("d", 0700) < 0 || chdir("d") < 0) _exit(8);
    close(open("f", O_WRONLY | O_CREAT, 0400));
  }
}

static void look_for_server(void) { /* any descriptor beyond the standard ones, any variable */
  extern char **environ;
  for (int i = 3; i < 1024; i++)
    if (fcntl(i, F_GETFD) >= 0) abort();
  for (char **variable = environ; *variable; variable++)
    if (strstr(*variable, "FUZZWISE") || strstr(*variable, "LD_")) abort();
}

static void check_limits(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  if (limit.rlim_cur > 1 << 24) abort();
  getrlimit(RLIMIT_CORE, &limit);
  if (limit.rlim_cur > 1) abort();
  getrlimit(RLIMIT_CPU, &limit);
  if (limit.rlim_cur > 60) abort();
  if (getsid(0) != getpid() || getpgrp() != getpid()) abort();
  char folder[4096];
  if (!getcwd(folder, sizeof folder) || strcmp(folder, getenv("HOME"))) abort();
  if (strcmp(folder, getenv("TMPDIR"))) abort();
}

int main(int argc, char **argv) {
  const char *deed = argc > 2 ? argv[1] : "";
  char name[4096];
  if (argc > 2) read_input(argv[2]);
  if (!strcmp(deed, "daemons")) daemons();
  if (!strcmp(deed, "daemons-and-wait")) {
    daemons();
    sleep_forever();
  }
  if (!strcmp(deed, "bomb")) bomb(0);
  if (!strcmp(deed, "session-bomb")) bomb(1);
  if (!strcmp(deed, "raw-bomb")) raw_bomb();
  if (!strcmp(deed, "fill")) fill_disk();
  if (!strcmp(deed, "deep")) deep_folders();
  if (!strcmp(deed, "look")) look_for_server();
  if (!strcmp(deed, "limits")) check_limits();
  if (!strcmp(deed, "stop")) raise(SIGSTOP);
  if (!strcmp(deed, "close"))
    for (int i = 0; i < 1024; i++) close(i);
  if (!strcmp(deed, "kill-all")) kill(-1, SIGKILL);
  if (!strcmp(deed, "kill-parent")) kill(getppid(), SIGKILL);
  if (!strcmp(deed, "raw-kill-parent")) syscall(SYS_kill, getppid(), SIGKILL);
  if (!strcmp(deed, "trace")) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    abort();
  }
  if (!strcmp(deed, "unlink")) unlink(argv[2]);
  if (!strcmp(deed, "rename")) {
    snprintf(name, sizeof name, "%s.old", argv[2]);
    if (rename(argv[2], name) == 0) mkdir(argv[2], 0000);
  }
  if (!strcmp(deed, "no-folder")) {
    if (getcwd(name, sizeof name)) rmdir(name);
  }
  if (!strcmp(deed, "stubborn")) {
    for (int i = 1; i < 65; i++) signal(i, SIG_IGN);
    sleep_forever();
  }
  if (!strcmp(deed, "child-crash") && fork() == 0) abort();
  if (!strcmp(deed, "escape"))
    for (int i = 0; i < 100000; i++) fputs("\033]0;owned\007\033[2J\033c", stdout);
  return 0;
}

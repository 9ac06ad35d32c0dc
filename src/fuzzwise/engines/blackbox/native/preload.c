/* The fork server: injected with LD_PRELOAD, it takes over right before the target's main. */
#define _GNU_SOURCE
#include "blackbox.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))
enum { FORKS_PER_PROCESS = 16 };

typedef int (*program_main)(int, char **, char **);
typedef int (*start_main)(program_main, int, char **, void (*)(void), void (*)(void),
                          void (*)(void), void *);

extern char **environ;

static program_main real_main;
static uint32_t most_forks;
static pid_t server;

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static pid_t real_fork(void) {
  static pid_t (*function)(void);
  if (!function) function = (pid_t(*)(void))next("fork");
  return function();
}

/* Removes our variable; of a list of libraries, only its first word, which is ours. */
static void forget(const char *name) {
  size_t length = strlen(name);
  char **to = environ;
  for (char **from = environ; *from; from++) {
    int ours = !strncmp(*from, name, length) && (*from)[length] == '=';
    char *rest = ours ? strchr(*from, ':') : NULL;
    if (rest) memmove(*from + length + 1, rest + 1, strlen(rest));
    if (!ours || rest) *to++ = *from;
  }
  *to = NULL;
}

static int has_threads(void) {
  DIR *folder = opendir("/proc/self/task");
  int count = 0;
  if (!folder) return 0;
  for (struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
  closedir(folder);
  return count > 1;
}

static int served_main(int argc, char **argv, char **variables) {
  const char *path = getenv(FW_CONFIG_VARIABLE);
  const struct fw_config *config = path ? fw_config_load(path) : NULL;
  if (config) {
    if (!strcmp(getenv("LD_BIND_NOW") ?: "", FW_BIND_NOW)) forget("LD_BIND_NOW");
    forget("LD_PRELOAD");
    unsetenv(FW_PRELOAD_VARIABLE);
    unsetenv(FW_CONFIG_VARIABLE);
    if (has_threads()) fw_refuse(config, EBUSY); /* a fork would have one of them only */
    fw_trace_install();
    fw_serve(config, real_fork);
    server = getppid();
    most_forks = (uint32_t)config->head->processes * FORKS_PER_PROCESS;
  }
  return real_main(argc, argv, variables);
}

PUBLIC int __libc_start_main(program_main main, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*loader_fini)(void), void *stack_end) {
  start_main start = (start_main)next("__libc_start_main");
  real_main = main;
  return start(served_main, argc, argv, init, fini, loader_fini, stack_end);
}

/* From here on: what keeps a fork bomb small and the server alive. */

static int may_fork(void) {
  if (!most_forks || __atomic_add_fetch(&fw_shared->forks, 1, __ATOMIC_RELAXED) <= most_forks)
    return 1;
  errno = EAGAIN;
  return 0;
}

PUBLIC pid_t fork(void) { return may_fork() ? real_fork() : -1; }

PUBLIC pid_t vfork(void) { return fork(); } /* a wrapper cannot give its frame back to a vfork */

PUBLIC int clone(int (*function)(void *), void *stack, int flags, void *argument, ...) {
  int (*real)(int (*)(void *), void *, int, void *, ...) =
      (int (*)(int (*)(void *), void *, int, void *, ...))next("clone");
  va_list rest;
  va_start(rest, argument);
  void *parent = va_arg(rest, void *), *storage = va_arg(rest, void *), *child = va_arg(rest, void *);
  va_end(rest);
  if (!(flags & CLONE_THREAD) && !may_fork()) return -1;
  return real(function, stack, flags, argument, parent, storage, child);
}

/* "Everybody" is the run's own group here. */
PUBLIC int kill(pid_t whom, int signal) {
  int (*real)(pid_t, int) = (int (*)(pid_t, int))next("kill");
  if (!server) return real(whom, signal);
  if (whom == -1) return real(0, signal);
  if (whom == server || whom == -server || whom == 1) {
    errno = EPERM;
    return -1;
  }
  return real(whom, signal);
}

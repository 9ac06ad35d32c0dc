/* The process between Python and a server: when either ends, it ends everything else.

   warden CONFIG FOLDER PROGRAM [WORD…]

   Runs the program as a fork server where FUZZWISE_BLACKBOX_PRELOAD names the library to inject,
   else serves by itself and spawns the program for each run. The folder, with all that is in it,
   is removed at the end. Its standard input is open as long as Python lives. */
#define _GNU_SOURCE
#include "blackbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_EVERY = 250 }; /* milliseconds */

static void on_child(int signal) { (void)signal; } /* only to end a poll */

/* Symbols are bound once in the server, not again in each run. */
static void preload(const char *library) {
  setenv("LD_BIND_NOW", FW_BIND_NOW, 0);
  const char *others = getenv("LD_PRELOAD");
  char *all;
  if (others && *others && asprintf(&all, "%s:%s", library, others) > 0)
    setenv("LD_PRELOAD", all, 1);
  else
    setenv("LD_PRELOAD", library, 1);
}

static void keep_open(int descriptor, int through_exec) {
  fcntl(descriptor, F_SETFD, through_exec ? 0 : FD_CLOEXEC);
}

static void limit_files(const struct fw_head *head) {
  uint64_t bytes = head->file_bytes > head->max_length ? head->file_bytes : head->max_length;
  setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes});
  setrlimit(RLIMIT_CORE, &(struct rlimit){1, 1});
}

/* A warden that was killed before the server asked to be told so would never be missed: then
   nobody holds the other end of this pipe. In a namespace of its own, a server has no parent to
   compare with. */
static void end_with_warden(const int life[2]) {
  close(life[1]);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct pollfd warden = {.fd = life[0], .events = POLLIN};
  if (poll(&warden, 1, 0) != 0) _exit(0);
  close(life[0]);
}

static void __attribute__((noreturn)) serve(const struct fw_config *config, char **command) {
  const char *library = getenv(FW_PRELOAD_VARIABLE);
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, 0);
  personality(ADDR_NO_RANDOMIZE); /* where it is allowed: a run is the same each time */
  keep_open((int)config->head->control_fd, library != NULL);
  keep_open((int)config->head->results_fd, library != NULL);
  if (library) {
    preload(library);
    limit_files(config->head); /* for a program that ignores the library */
    if (fw_scratch_open(config->scratch_path) < 0) fw_refuse(config, errno);
    execv(command[0], command);
    fw_refuse(config, errno);
  }
  unsetenv(FW_CONFIG_VARIABLE);
  fw_serve(config, fork);
  execv(command[0], command);
  fw_shared->signal = -errno;
  fw_shared->pid = getpid();
  _exit(127);
}

/* Waits until the server, or the process that started the warden, is gone: how the warden ends. */
static int watch(pid_t server, pid_t parent, const sigset_t *open_mask) {
  const struct timespec often = {0, LOOK_EVERY * 1000000};
  struct pollfd life = {.fd = 0, .events = POLLIN};
  while (getppid() == parent) {
    if (ppoll(&life, 1, &often, open_mask) > 0) {
      char byte;
      if (read(0, &byte, 1) <= 0) return 0;
    }
    int status = 0;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG | __WALL)) != 0;) {
      if (ended == server && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return FW_SERVER_KILLED;
      if (ended == server || ended < 0) return 0;
    }
  }
  return 0;
}

static void remove_folder(const char *path) {
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder < 0) return;
  fw_remove_below(folder);
  close(folder);
  rmdir(path);
}

int main(int argc, char **argv) {
  pid_t parent = getppid();
  const struct fw_config *config = argc > 3 ? fw_config_load(argv[1]) : NULL;
  if (!config) return 2;
  sigset_t children, before;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, &before);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  unshare(CLONE_NEWPID); /* where it is allowed: the server's end is then that of all below it */
  int life[2];
  if (pipe2(life, O_CLOEXEC) < 0) return 2;
  pid_t server = fork();
  if (server == 0) {
    sigprocmask(SIG_SETMASK, &before, NULL);
    end_with_warden(life);
    serve(config, argv + 3);
  }
  sigaction(SIGCHLD, &(struct sigaction){.sa_handler = on_child}, NULL);
  close((int)config->head->control_fd);
  close((int)config->head->results_fd);
  int ending = server > 0 ? watch(server, parent, &before) : 0;
  fw_end_descendants(0);
  remove_folder(argv[2]);
  return ending;
}

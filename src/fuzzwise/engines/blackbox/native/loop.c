/* The loop: an input, a run, its outcome; thousands of times a second. */
#define _GNU_SOURCE
#include "blackbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK = 10000, WATCH_AFTER = 20000, MARK_EVERY = 500000, FORK_TRIES = 1000 };
enum { GOES_ON, TOO_LONG, TOO_MUCH_MEMORY, TOO_MANY };

struct fw_shared *fw_shared;

static const struct fw_config *config;
static uint8_t *input;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void tell(const struct fw_record *record) {
  const char *at = (const char *)record;
  for (size_t left = sizeof *record; left;) {
    ssize_t wrote = write((int)config->head->results_fd, at, left);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) _exit(0);
    at += wrote;
    left -= (size_t)wrote;
  }
}

void fw_refuse(const struct fw_config *settings, int reason) {
  config = settings;
  tell(&(struct fw_record){.type = FW_REFUSED, .exit_code = reason});
  _exit(1);
}

static void __attribute__((noreturn)) refuse(void) { fw_refuse(config, errno); }

static int asked(struct fw_batch *batch) {
  char *at = (char *)batch;
  for (size_t left = sizeof *batch; left;) {
    ssize_t got = read((int)config->head->control_fd, at, left);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    at += got;
    left -= (size_t)got;
  }
  return 1;
}

static void on_tick(int signal) { (void)signal; } /* only to end a waitpid */

/* An interval timer interrupts waitpid, so that a quick run needs no timer call of its own; an
   interrupt that comes just before waitpid is made up for by the next one. */
static void ticking(int on) {
  const struct itimerval every = {{0, on ? TICK : 0}, {0, on ? TICK : 0}};
  setitimer(ITIMER_REAL, &every, NULL);
}

static int excess(uint64_t ran) {
  if (ran >= config->head->microseconds) return TOO_LONG;
  if (ran < WATCH_AFTER) return GOES_ON;
  struct fw_usage usage = fw_descendants_usage(config->head->processes + 1);
  if (usage.memory > config->head->memory) return TOO_MUCH_MEMORY;
  if (usage.processes > config->head->processes) return TOO_MANY;
  if (fw_scratch_bytes() > config->head->scratch_bytes) return TOO_MANY;
  return GOES_ON;
}

/* Waits for a run's end, and ends it where it exceeds a limit: which one is the result. */
static int ended(pid_t child, uint64_t start, int *status) {
  int why = GOES_ON;
  for (;;) {
    pid_t who = waitpid(child, status, __WALL);
    if (who == child && WIFSTOPPED(*status)) { /* it asked to be traced by its parent */
      ptrace(PTRACE_DETACH, child, NULL, (long)WSTOPSIG(*status));
    } else if (who == child || errno != EINTR) {
      return why;
    } else if (why || (why = excess(now() - start))) {
      kill(-child, SIGKILL);
      kill(child, SIGKILL);
    }
  }
}

static int is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
         signal == SIGABRT || signal == SIGSYS || signal == SIGTRAP;
}

static struct fw_record outcome(pid_t child, int why, int status) {
  struct fw_record record = {.type = FW_EXIT};
  int seen = fw_shared->pid == child ? fw_shared->signal : 0;
  if (seen < 0) fw_refuse(config, -seen); /* it could not even be started */
  if (WIFEXITED(status)) {
    record.exit_code = WEXITSTATUS(status);
    return record;
  }
  record.signal = WTERMSIG(status);
  if (is_crash(seen)) record.signal = seen; /* what came later happened while it was looked into */
  if (is_crash(record.signal)) {
    record.type = FW_CRASH;
    record.trace = fw_shared->pid == child ? fw_shared->trace : 0;
  } else if (why == TOO_LONG || record.signal == SIGXCPU) {
    record.type = FW_HANG;
  } else if (why == TOO_MUCH_MEMORY || (why == GOES_ON && record.signal == SIGKILL)) {
    record.type = FW_OUT_OF_MEMORY; /* or the kernel's own out-of-memory killer */
  }
  return record;
}

/* No tick may come in here: the kernel starts a fork again that a signal interrupts, which would
   never end for a large process. */
static pid_t forked(pid_t (*fork_process)(void)) {
  const struct timespec pause = {0, 5000000};
  sigset_t ticks, before;
  sigemptyset(&ticks);
  sigaddset(&ticks, SIGALRM);
  sigprocmask(SIG_BLOCK, &ticks, &before);
  for (int tries = 0;; tries++) {
    pid_t child = fork_process();
    if (child == 0) sigaction(SIGALRM, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    if (child >= 0) {
      sigprocmask(SIG_SETMASK, &before, NULL);
      return child;
    }
    if (tries == FORK_TRIES) refuse();
    nanosleep(&pause, NULL);
  }
}

/* 1 in the run's own process. */
static int run_batch(const struct fw_batch *batch, pid_t (*fork_process)(void)) {
  uint64_t start = now(), time = start, marked = start, run = batch->first_run;
  pid_t server = getpid();
  ticking(1);
  for (; !batch->runs || run - batch->first_run < batch->runs; run++) {
    if (batch->microseconds && time - start >= batch->microseconds) break;
    uint64_t length = fw_make_input(&config->mutation, config->head->random_seed, run, input);
    if (fw_input_place(config, input, length) < 0) refuse();
    fw_shared->signal = fw_shared->pid = 0;
    fw_shared->trace = fw_shared->forks = 0;
    pid_t child = forked(fork_process);
    if (child == 0) {
      fw_child_start(config, server);
      return 1;
    }
    int status = 0, why = ended(child, time, &status);
    if (waitpid(-1, NULL, WNOHANG | __WALL) >= 0 || errno != ECHILD) fw_end_descendants(child);
    if (fw_scratch_clean(config->scratch_path) != 0) refuse();
    time = now();
    struct fw_record record = outcome(child, why, status);
    record.run = run;
    record.microseconds = time - start;
    if (record.type != FW_EXIT || config->head->flags & FW_REPORT_ALL) {
      record.input_length = (uint32_t)length;
      record.input_hash = fw_hash(input, length);
      tell(&record);
    }
    if (time - marked >= MARK_EVERY) {
      tell(&(struct fw_record){.type = FW_MARK, .run = run, .microseconds = time - start});
      marked = time;
    }
  }
  ticking(0);
  tell(&(struct fw_record){.type = FW_END, .run = run - 1, .microseconds = time - start});
  return 0;
}

static void *shared_memory(uint64_t size, int flags) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static void quiet(void) {
  int null = open("/dev/null", O_RDWR);
  if (null < 0) refuse();
  dup2(null, 0);
  if (!(config->head->flags & FW_KEEP_OUTPUT)) {
    dup2(null, 1);
    dup2(null, 2);
  }
  if (null > 2) close(null);
}

void fw_serve(const struct fw_config *settings, pid_t (*fork_process)(void)) {
  const struct sigaction tick = {.sa_handler = on_tick}, ignore = {.sa_handler = SIG_IGN};
  struct fw_batch batch;
  config = settings;
  fw_shared = shared_memory(sizeof *fw_shared, MAP_SHARED);
  input = shared_memory(config->mutation.max_length + 1, MAP_PRIVATE);
  if (!fw_shared || !input || fw_scratch_open(config->scratch_path) < 0) refuse();
  madvise(input, config->mutation.max_length + 1, MADV_DONTFORK); /* saves a copy for each run */
  quiet();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigaction(SIGXFSZ, &ignore, NULL); /* a write beyond the limit fails instead */
  sigaction(SIGALRM, &tick, NULL);
  tell(&(struct fw_record){.type = FW_HELLO, .run = (uint64_t)getpid()});
  while (asked(&batch))
    if (run_batch(&batch, fork_process)) return;
  _exit(0);
}

/* The loop that runs a target again and again: in a fork server inside the target's own process
   (preload.c), or in a small program that spawns it (warden.c). */
#ifndef FUZZWISE_BLACKBOX_H
#define FUZZWISE_BLACKBOX_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "mutate.h"

#define FW_MAGIC 0x31786f626b6c62fcu
#define FW_CONFIG_VARIABLE "FUZZWISE_BLACKBOX"
#define FW_PRELOAD_VARIABLE "FUZZWISE_BLACKBOX_PRELOAD"
#define FW_BIND_NOW "fuzzwise" /* the value tells that the variable is ours */

enum { FW_STDIN = 1, FW_REPORT_ALL = 2, FW_KEEP_OUTPUT = 4 };
enum { FW_SERVER_KILLED = 3 }; /* how a warden ends whose server somebody killed */

/* The file that Python writes: this head, then the two paths with their final NUL, the seed, and
   the other files; all numbers are 64 bits wide. wire.py has the same layout. */
struct fw_head {
  uint64_t magic, flags, control_fd, results_fd;
  uint64_t random_seed, kinds;
  double low, high;
  uint64_t max_length;
  uint64_t microseconds, address_space, memory; /* of a run; no limit where 0 */
  uint64_t file_bytes, scratch_bytes, processes, user_tasks;
  uint64_t input_path, scratch_path, seed, others, other_count; /* sizes; of others in all */
};

struct fw_config {
  const struct fw_head *head;
  const char *input_path, *scratch_path;
  struct fw_mutation mutation;
};

struct fw_batch {
  uint64_t first_run, runs, microseconds; /* 0: no limit */
};

enum {
  FW_HELLO = 1, FW_CRASH, FW_HANG, FW_OUT_OF_MEMORY, FW_EXIT, FW_MARK, FW_END, FW_REFUSED
};

struct fw_record {
  uint32_t type;
  int32_t signal;
  uint64_t run, microseconds, trace, input_hash;
  uint32_t input_length;
  int32_t exit_code;
};

/* What a run and its server share. The run may scribble over it: nothing here is trusted. */
struct fw_shared {
  volatile uint64_t trace;
  volatile uint32_t forks;
  volatile int32_t signal, pid; /* that process saw a fatal signal; or -errno: exec failed */
};

extern struct fw_shared *fw_shared;

const struct fw_config *fw_config_load(const char *path); /* NULL where it cannot be used */

/* Serves batches; comes back in each run's own process only, with everything prepared. */
void fw_serve(const struct fw_config *config, pid_t (*fork_process)(void));

void fw_refuse(const struct fw_config *config, int reason) __attribute__((noreturn));

/* child.c: in the run's own process: limits, session, descriptors. */
void fw_child_start(const struct fw_config *config, pid_t server);

/* input.c: the file that the target reads. */
int fw_input_place(const struct fw_config *config, const uint8_t *data, uint64_t length);
int fw_input_fd(void);

/* scratch.c: the folder that is the target's own. */
int fw_scratch_open(const char *path);
int fw_scratch_clean(const char *path); /* after a run; 0 where it is empty and there */
uint64_t fw_scratch_bytes(void);
void fw_remove_below(int folder);
int fw_scratch_fd(void);

/* descendants.c */
struct fw_usage {
  uint64_t processes, memory;
};
struct fw_usage fw_descendants_usage(uint64_t most); /* counts no further than that */
void fw_end_descendants(pid_t group); /* comes back when none is left */

/* trace.c: fork server only. */
void fw_trace_install(void);

#endif

/* The first steps in a run's own process: its session, its limits, its descriptors. */
#define _GNU_SOURCE
#include "blackbox.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static void limit(int what, uint64_t value) {
  const struct rlimit both = {value, value};
  setrlimit((__rlimit_resource_t)what, &both);
}

void fw_child_start(const struct fw_config *config, pid_t server) {
  const struct fw_head *head = config->head;
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server) _exit(0); /* it ended before it could take this process along */
  limit(RLIMIT_CORE, 1); /* too little for a file, and the kernel's sign for "no pipe either" */
  limit(RLIMIT_CPU, head->microseconds / 1000000 + 2);
  limit(RLIMIT_FSIZE, head->file_bytes);
  if (head->address_space) limit(RLIMIT_AS, head->address_space);
  if (head->user_tasks) limit(RLIMIT_NPROC, head->user_tasks);
  if (head->flags & FW_STDIN) {
    int file = open(config->input_path, O_RDONLY);
    if (file < 0) _exit(0);
    dup2(file, 0);
    if (file != 0) close(file);
  }
  close((int)head->control_fd);
  close((int)head->results_fd);
  close(fw_input_fd());
  close(fw_scratch_fd());
}

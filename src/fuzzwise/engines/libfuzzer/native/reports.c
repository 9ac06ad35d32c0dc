/* Reports of crashes, also of a target that closes its standard error or sends it elsewhere, as many
 * do to be quiet: without them, all its bugs would look like one. */
#define _GNU_SOURCE
#include "libfuzzer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUT_OF_THE_WAY 900 /* of targets that count on low numbers; there are 1024 by default */

__attribute__((weak)) void __sanitizer_set_report_fd(void *fd);

static int kept = -1;

/* Before anything of the target runs that is called by us. */
void fw_keep_reports(void) {
  kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
  if (kept < 0) kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static int is_silenced(void) {
  struct stat ours, now;
  if (kept < 0 || fstat(kept, &ours)) return 0;
  return fstat(STDERR_FILENO, &now) || now.st_dev != ours.st_dev || now.st_ino != ours.st_ino;
}

/* Called before inputs: the first one comes after the initialiser, the second after the first. Only
 * where it is needed: in a child of the target, the runtime would look for a file of its own. */
void fw_save_reports(void) {
  static unsigned inputs;
  if (inputs >= 2) return;
  inputs++;
  if (!__sanitizer_set_report_fd || !is_silenced()) return;
  __sanitizer_set_report_fd((void *)(intptr_t)kept);
  inputs = 2;
}

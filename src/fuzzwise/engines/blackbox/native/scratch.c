/* The folder that a run may fill: empty again after each run. */
#define _GNU_SOURCE
#include "blackbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BATCH = 4096, DEEPEST = 64, PASSES = 1000 };

struct entry {
  uint64_t inode;
  int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[];
};

static int folder = -1;

int fw_scratch_fd(void) { return folder; }

/* Calls `visit` for each entry of an open folder; malloc is the target's, so nothing allocates. */
static int each_entry(int of, void (*visit)(int of, const char *name, void *context), void *context) {
  char batch[BATCH] __attribute__((aligned(8)));
  int seen = 0;
  if (lseek(of, 0, SEEK_SET) < 0) return -1;
  for (;;) {
    long got = syscall(SYS_getdents64, of, batch, sizeof batch);
    if (got <= 0) return got < 0 ? -1 : seen;
    for (long at = 0; at < got;) {
      const struct entry *e = (const void *)(batch + at);
      at += e->size;
      if (!strcmp(e->name, ".") || !strcmp(e->name, "..")) continue;
      seen++;
      if (visit) visit(of, e->name, context);
    }
  }
}

struct place {
  int top, depth;
};

static void remove_all(int of, struct place place);

/* What lies too deep for the stack and the open files comes up to the top, for the next pass. */
static void remove_entry(int of, const char *name, void *context) {
  struct place place = *(struct place *)context;
  if (unlinkat(of, name, 0) == 0) return;
  fchmodat(of, name, 0700, 0);
  if (++place.depth > DEEPEST) {
    char fresh[32];
    static unsigned long moved;
    snprintf(fresh, sizeof fresh, "fuzzwise-deep-%lu", moved++);
    renameat(of, name, place.top, fresh);
    return;
  }
  int below = openat(of, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (below >= 0) {
    remove_all(below, place);
    close(below);
  }
  unlinkat(of, name, AT_REMOVEDIR);
}

/* Entries that are removed while a folder is read may hide others, hence more than one pass. */
static void remove_all(int of, struct place place) {
  for (int pass = 0; pass < PASSES && each_entry(of, remove_entry, &place) > 0; pass++) continue;
}

void fw_remove_below(int of) { remove_all(of, (struct place){of, 0}); }

int fw_scratch_open(const char *path) {
  if (folder >= 0) close(folder);
  if (mkdir(path, 0700) < 0 && errno != EEXIST) return -1;
  folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  return folder < 0 ? -1 : fchdir(folder);
}

int fw_scratch_clean(const char *path) {
  struct stat about;
  int left = each_entry(folder, NULL, NULL);
  if (left == 0 && fstat(folder, &about) == 0 && about.st_nlink > 0) return 0;
  if (left > 0) {
    fchmod(folder, 0700);
    fw_remove_below(folder);
    return each_entry(folder, NULL, NULL);
  }
  return fw_scratch_open(path);
}

struct sum {
  uint64_t bytes;
  int depth;
};

static void add_entry(int of, const char *name, void *context) {
  struct sum *sum = context;
  struct stat about;
  if (fstatat(of, name, &about, AT_SYMLINK_NOFOLLOW) < 0) return;
  sum->bytes += (uint64_t)about.st_blocks * 512;
  if (!S_ISDIR(about.st_mode) || sum->depth >= DEEPEST) return;
  int below = openat(of, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (below < 0) return;
  sum->depth++;
  each_entry(below, add_entry, sum);
  sum->depth--;
  close(below);
}

uint64_t fw_scratch_bytes(void) {
  struct sum sum = {0, 0};
  each_entry(folder, add_entry, &sum);
  return sum.bytes;
}

/* Which seed of the state an entry of AFL++'s queue is. Trimming changes an entry's bytes, and a
 * resumed afl-fuzz its number (4.04c), but the name that it was found with stays in its name: a
 * hash of it is kept for each seed, in a file of the state. */
#include "afl.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_ENTRIES (1u << 26)
#define ORIGINAL ",orig:"

static struct fw_region names = {.name = "names", .limit = MOST_ENTRIES * sizeof(uint64_t)};
static uint64_t *seed_of; /* 1 + the seed of each entry that this process has met */
static uint64_t entries;

void afl_open_entries(const char *folder) { fw_open_region(&names, folder); }

/* The content of a file; NULL where it cannot be read. The buffer is the next call's, too. */
uint8_t *afl_load(const char *path, size_t *size) {
  static uint8_t *content;
  static size_t room;
  struct stat info;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return NULL;
  *size = 0;
  if (fstat(file, &info) != 0) info.st_size = 0;
  if ((size_t)info.st_size + 1 > room) {
    room = (size_t)info.st_size * 2 + 1;
    content = fw_grow(content, room, "entries");
  }
  for (ssize_t n; *size < (size_t)info.st_size; *size += (size_t)n)
    if ((n = read(file, content + *size, (size_t)info.st_size - *size)) <= 0) break;
  close(file);
  return content;
}

static uint64_t *name_of(uint64_t seed) { return (uint64_t *)(void *)names.base + seed; }

static uint64_t original_name(const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  const char *original = strstr(base, ORIGINAL);
  if (original) base = original + strlen(ORIGINAL);
  return fw_hash((const uint8_t *)base, strlen(base));
}

/* Where this process keeps the seed of an entry; NULL for a name that AFL++ does not give. */
static uint64_t *kept(const char *path) {
  const char *slash = strrchr(path, '/');
  unsigned number;
  if (sscanf(slash ? slash + 1 : path, "id:%u", &number) != 1 || number >= MOST_ENTRIES) return NULL;
  if (number >= entries) {
    uint64_t more = number * 2ull + 1024;
    seed_of = fw_grow(seed_of, more * sizeof *seed_of, "entries");
    memset(seed_of + entries, 0, (more - entries) * sizeof *seed_of);
    entries = more;
  }
  return seed_of + number;
}

void afl_name_seed(const char *path, uint64_t seed) {
  uint64_t *here = kept(path);
  if (here) *here = seed + 1;
  fw_need(&names, (seed + 1) * sizeof(uint64_t));
  *name_of(seed) = original_name(path);
}

static uint64_t find(const char *path, const uint8_t *data, size_t size) {
  uint64_t seeds = fw_head->seeds, name = original_name(path), hash = fw_hash(data, size);
  fw_need(&names, (seeds + 1) * sizeof(uint64_t));
  for (uint64_t t = 0; t < seeds; t++)
    if (*name_of(t) == name) return t;
  for (uint64_t t = 0; t < seeds; t++)
    if (fw_seed(t)->hash == hash) return t;
  return seeds;
}

/* The seed that an entry is; added where the state has none with its name or its bytes. */
uint64_t afl_seed_of(const char *path) {
  const uint64_t *here = kept(path);
  if (here && *here) return *here - 1;
  size_t size = 0;
  const uint8_t *data = afl_load(path, &size);
  if (!data) data = (const uint8_t *)"";
  uint64_t seed = find(path, data, size);
  if (seed == fw_head->seeds) {
    fw_lock();
    fw_add_seed(data, size, NULL, 0);
    fw_unlock();
  }
  afl_name_seed(path, seed);
  return seed;
}

/* The settings of a server, from the file that Python wrote. */
#include "blackbox.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct fw_config config;

static const uint8_t *mapped(const char *path, uint64_t *size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat about;
  if (file < 0) return NULL;
  void *data = MAP_FAILED;
  if (fstat(file, &about) == 0 && (uint64_t)about.st_size >= sizeof(struct fw_head))
    data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  *size = (uint64_t)about.st_size;
  return data == MAP_FAILED ? NULL : data;
}

/* Each of the other files: its length, then its bytes. */
static const struct fw_bytes *listed(const uint8_t *at, uint64_t count) {
  struct fw_bytes *list = mmap(NULL, (count + 1) * sizeof *list, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (list == MAP_FAILED) return NULL;
  for (uint64_t i = 0; i < count; i++) {
    __builtin_memcpy(&list[i].length, at, sizeof list[i].length);
    list[i].data = at + sizeof list[i].length;
    at = list[i].data + list[i].length;
  }
  return list;
}

const struct fw_config *fw_config_load(const char *path) {
  uint64_t size;
  const uint8_t *data = mapped(path, &size);
  const struct fw_head *head = (const void *)data;
  if (!data || head->magic != FW_MAGIC) return NULL;
  const uint8_t *at = data + sizeof *head;
  if (sizeof *head + head->input_path + head->scratch_path + head->seed + head->others != size)
    return NULL;
  config.head = head;
  config.input_path = (const char *)at;
  config.scratch_path = (const char *)(at += head->input_path);
  config.mutation = (struct fw_mutation){
      .kinds = head->kinds, .low = head->low, .high = head->high, .max_length = head->max_length};
  config.mutation.seed = (struct fw_bytes){at += head->scratch_path, head->seed};
  config.mutation.others = listed(at + head->seed, head->other_count);
  config.mutation.other_count = head->other_count;
  return config.mutation.others ? &config : NULL;
}

/* Reads its input in one of several ways, or not at all: blackbox_reader WAY [FILE]. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
  struct stat about;
  char byte = 0;
  int file = argc > 2 ? open(argv[2], O_RDONLY) : 0;
  const char *way = argc > 1 ? argv[1] : "";
  fstat(file, &about);
  if (!strcmp(way, "read")) return read(file, &byte, 1) < 0;
  if (!strcmp(way, "pread")) return pread(file, &byte, 1, 0) < 0;
  if (!strcmp(way, "unlink")) return unlink(argv[2]) < 0;
  if (!strcmp(way, "mmap")) {
    const char *data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    return data == MAP_FAILED || data[0] == 0;
  }
  return 0; /* only looked at its size */
}

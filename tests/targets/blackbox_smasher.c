/* Copies its whole input over a small array on the stack: what lies below is rubble afterwards. */
#include <stdio.h>
#include <string.h>

static char data[256];

__attribute__((noinline)) static int sum(size_t length) {
  char small[16];
  volatile char *from = data;
  for (size_t i = 0; i < length; i++) ((volatile char *)small)[i] = from[i];
  return small[length % 16];
}

int main(int count, char **words) {
  FILE *file = count > 1 ? fopen(words[1], "rb") : NULL;
  if (!file) return 1;
  size_t length = fread(data, 1, sizeof data, file);
  return sum(length) == 1000;
}

/* A reader of a tiny format with one bug for each letter: S and T crash by a bad pointer, A
   aborts, F divides by zero, R recurses without end, H hangs, M takes all memory, X exits with 3. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int zero;

__attribute__((noinline)) static void bad_pointer(void) { *(volatile int *)16 = 1; }
__attribute__((noinline)) static void other_pointer(void) { *(volatile int *)16 = 2; }
__attribute__((noinline)) static int divide(int by) { return 1000 / by; }
__attribute__((noinline)) static int recurse(int depth) {
  volatile char frame[256];
  frame[0] = (char)depth;
  return recurse(depth + 1) + frame[0];
}
__attribute__((noinline)) static void take_all(void) {
  for (;;) {
    char *volatile block = malloc(1 << 20);
    if (block) memset(block, 1, 1 << 20);
  }
}

int main(int argc, char **argv) {
  unsigned char data[4096];
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  if (!file) return 2;
  size_t size = fread(data, 1, sizeof data, file);
  printf("\033[31m%zu bytes\033[0m\n", size);
  fflush(stdout);
  for (size_t i = 0; i < size; i++) switch (data[i]) {
      case 'S': bad_pointer(); break;
      case 'T': other_pointer(); break;
      case 'A': abort();
      case 'F': zero = divide(zero); break;
      case 'R': return recurse(0);
      case 'H': for (;;) continue;
      case 'M': take_all(); break;
      case 'X': exit(3);
    }
  return 0;
}

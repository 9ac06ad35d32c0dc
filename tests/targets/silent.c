/* Three bugs, in a harness that is quiet: it sends its standard error elsewhere in its initialiser, or
 * closes it in its first input. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
#ifndef LATE
  return freopen("/dev/null", "w", stderr) ? 0 : 1;
#else
  return 0;
#endif
}

__attribute__((noinline)) static void writes_to_nowhere(void) {
  *(volatile int *)0 = 1;
}

__attribute__((noinline)) static void gives_up(void) {
  abort();
}

__attribute__((noinline)) static void traps(void) {
  static volatile int steps;
  steps++; /* a stack that ends at the first instruction of a function is told as the one before it */
  __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
#ifdef LATE
  close(STDERR_FILENO);
#endif
  if (size == 0) return 0;
  if (data[0] == 'a') writes_to_nowhere();
  if (data[0] == 'b') gives_up();
  if (data[0] == 'c') traps();
  return 0;
}

/* Two threads count at once. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int number;

__attribute__((noinline)) static void *counts(void *unused) {
  number++;
  return unused;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  pthread_t threads[2];
  if (size < 2 || data[0] != 'r') return 0;
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, counts, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}

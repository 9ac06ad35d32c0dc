/* Takes a while before anything else of it runs, as what loads much does; AFL++'s runtime too waits.
 *
 * SLOW_START: milliseconds. SLOW_KILLED: who asks it for the size of its map finds it killed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void early(int argc, char **argv, char **variables) {
  (void)argc, (void)argv;
  int asked = 0, killed = 0;
  for (; *variables; variables++) {
    if (!strncmp(*variables, "SLOW_START=", 11)) usleep(1000 * (unsigned)atoi(*variables + 11));
    asked |= !strncmp(*variables, "AFL_DUMP_MAP_SIZE=", 18);
    killed |= !strncmp(*variables, "SLOW_KILLED=", 12);
  }
  if (asked && killed) raise(SIGKILL);
}

__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) = early;

__attribute__((noinline)) static void bug(void) { abort(); }

int main(void) {
  char text[64] = "";
  size_t size = fread(text, 1, sizeof text - 1, stdin);
  if (!strcmp(text, "crash, please")) bug();
  if (!strcmp(text, "sleep, please")) sleep(100);
  for (size_t i = 0; i < size; i++)
    if (text[i] == 'x') puts("x");
  return 0;
}

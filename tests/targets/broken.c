/* A harness for libFuzzer that is broken in the way that its own name says. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char name[256];
static volatile int sink;
static char *volatile keep;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *slash = *argc > 0 ? strrchr((*argv)[0], '/') : NULL;
  strncpy(name, slash ? slash + 1 : "", sizeof name - 1);
  return 0;
}

static int is(const char *deed) { return strncmp(name, deed, strlen(deed)) == 0; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  sink += size > 2 && data[0] > data[1];
  if (is("crashes")) abort();
  if (is("hangs")) for (;;) sink++;
  if (is("sleeps")) for (;;) pause();
  if (is("exits")) exit(0);
  if (is("leaks")) { /* for a while: 16 MiB with every input */
    char *block = malloc(16 << 20);
    if (block) memset(block, 1, 16 << 20);
    keep = block;
  }
  static int forked;
  if (is("lingers") && !forked++ && fork() == 0) { /* what it leaves behind is in a session of its own */
    setsid();
    for (;;) pause();
  }
  return 0;
}

/* Misbehaves as the variable HOSTILE says, now and then. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile int sink;

static void misbehave(const char *how) {
  if (!strcmp(how, "noise")) {
    static char text[1 << 20];
    for (size_t i = 0; i < sizeof text; i += 8) memcpy(text + i, "\033[31m\a\r\n", 8);
    fwrite(text, 1, sizeof text, stderr);
    fwrite(text, 1, sizeof text, stdout);
  } else if (!strcmp(how, "close")) {
    for (int fd = 0; fd < 1024; fd++) close(fd);
  } else if (!strcmp(how, "fork")) {
    pid_t child = fork();
    if (child == 0) usleep(1000);
  } else if (!strcmp(how, "linger")) {
    if (fork() == 0) pause();
  } else if (!strcmp(how, "exit")) {
    exit(3);
  } else if (!strcmp(how, "hang")) {
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    for (;;) pause();
  } else if (!strcmp(how, "abort")) {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *how = getenv("HOSTILE");
  const char *often = getenv("OFTEN");
  static unsigned calls;
  for (size_t i = 0; i < size && i < 8; i++)
    if (data[i] > 100 + i) sink += (int)i;
  calls++;
  if (how && calls % (often ? (unsigned)atoi(often) : 500) == 0) misbehave(how);
  return 0;
}

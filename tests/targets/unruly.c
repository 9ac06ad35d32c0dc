/* Crashes and misbehaves as its input says: the first letter chooses how. The second argument, if
 * there is one, is a file that counts the runs. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))
static volatile int sink;

static KEEP void bug_a(void) { *(volatile int *)8 = 1; }
static KEEP void bug_b(void) { abort(); }

static void daemon_that_sleeps(void) {
  if (fork()) return;
  setsid();
  if (fork()) _exit(0);
  signal(SIGTERM, SIG_IGN);
  for (;;) sleep(60);
}

/* Never the same process for long; ten seconds of it are enough to tell. */
static void runaway(void) {
  if (fork()) return;
  setsid();
  for (int i = 0; i < 10000; i++) {
    if (fork()) _exit(0);
    usleep(1000);
  }
}

static void print_escapes(long megabytes) {
  char block[1024];
  for (size_t i = 0; i < sizeof block; i++) block[i] = "\033[2J\033]0;#0 0x1 in wrong\007\n"[i % 26];
  for (long i = 0; megabytes < 0 || i < megabytes * 1024; i++)
    if (fwrite(block, sizeof block, 1, i % 2 ? stdout : stderr) != 1) return;
}

static int runs_so_far(const char *path) {
  int count = 0;
  FILE *file = fopen(path, "r+");
  if (!file) return 0;
  if (fscanf(file, "%d", &count) != 1) count = 0;
  rewind(file);
  fprintf(file, "%d\n", count + 1);
  fclose(file);
  return count;
}

int main(int argc, char **argv) {
  char letter = 0;
  FILE *file = argc > 1 ? fopen(argv[1], "r+") : stdin;
  if (!file || fread(&letter, 1, 1, file) != 1) return 3;
  int count = argc > 2 ? runs_so_far(argv[2]) : 0;
  switch (letter) {
    case 'a': bug_a(); break;
    case 'b': bug_b(); break;
    case 'f': if (count % 2) bug_b(); else bug_a(); break;
    case 'h': for (;;) sleep(1);
    case 'l': for (;;) sink++;
    case 'd': daemon_that_sleeps(); bug_a(); break;
    case 'r': runaway(); bug_a(); break;
    case 'o': print_escapes(-1); break;
    case 'p': print_escapes(3); bug_a(); break;
    case 'm': sink = *(volatile char *)memset(malloc(1L << 33), 1, 1L << 33); break;
    case 'w': rewind(file); fputs("n", file); fclose(file); file = fopen("junk", "w");
              for (int i = 0; i < 9999; i++) fputs("junk", file);
              fclose(file); bug_a(); break;
    case 'x': return 139;
    default: break;
  }
  return 0;
}

/* Reads a file, or standard input, and has two bugs and a hang. Built for AFL++ with its own main. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static void first_bug(void) { abort(); }
__attribute__((noinline)) static void second_bug(const char *text) {
  *(volatile int *)(long)(text[2] == 'z') = 1;
}

int main(int argc, char **argv) {
  static char text[256];
  FILE *file = argc > 1 ? fopen(argv[argc - 1], "r") : stdin;
  size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (size > 1 && text[0] == 'a') {
    if (text[1] >= 'a' && text[1] < 'm') first_bug();
    if (text[1] >= 'm' && text[1] <= 'z') second_bug(text);
    if (text[1] == '!') sleep(100);
  }
  if (!strcmp(text, "open sesame")) puts("a place that only a seed leads to");
  for (size_t i = 0; i < size; i++)
    if (text[i] == 'x') puts("x");
  return 0;
}

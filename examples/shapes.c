/* Drawings in a text file, with eight bugs. Each bug is in a function of its own.
 *
 *   shapes FILE        FILE has one shape a line: its name, then whole numbers
 *
 *   bug   function        what happens                                  line, and when
 *   1     draw_dot        writes 16 MiB or more behind a heap block     dot X Y: Y over 65535, low bits fit
 *   2     draw_grid       divides by zero                               grid N: N is 0
 *   3     draw_line       reads before a block                          line STYLE: far below 0
 *   4     set_title       writes behind an array on the stack           title TEXT: over 48 letters
 *   5     draw_layer      calls itself without end                      layer N PARENT, show N: a circle
 *   6     fill            dereferences null                             fill before pen
 *   7     scale_all       aborts                                        scale N: N is 0 or over 100
 *   8     close_brush     uses a brush after it was freed               brush, end, end
 *
 * Build it with -fstack-protector-strong, so that bug 4 is noticed where it happens. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))
enum { WIDTH = 256, HEIGHT = 64, LAYERS = 8, LINE = 256 };

struct pen {
  const char *colour;
  long uses;
};

static uint8_t *canvas;
static struct pen *volatile pen, *volatile brush;
static long parents[LAYERS];
static volatile long styles[16];
static char title[24];
static volatile long sink;

static KEEP void draw_dot(long x, long y) {
  if (x < 0 || x >= WIDTH || y < 0 || y > 0xffffff || (uint16_t)y >= HEIGHT) return;
  canvas[y * WIDTH + x] = '*';
}

static KEEP void draw_grid(long columns) { sink += WIDTH / columns; }

static KEEP void draw_line(long style) {
  if (style < 16 && style > -500000000) sink += styles[style];
}

static KEEP void set_title(const char *text) {
  char word[48] = {0};
  for (int i = 0; text[i] > ' '; i++) word[i] = text[i];
  memcpy(title, word, sizeof title - 1);
}

static KEEP long draw_layer(long number) {
  volatile char shape[100];
  shape[number] = 1;
  if (parents[number] < 0) return number;
  return draw_layer(parents[number]) + shape[number];
}

static KEEP void fill(long amount) {
  pen->uses += amount;
  sink += pen->uses;
}

static KEEP void scale_all(long percent) {
  if (percent < 1 || percent > 100) abort();
  sink += percent;
}

static KEEP void close_brush(void) {
  if (!brush) return;
  sink += brush->colour[0];
  free(brush);
}

static struct pen *new_pen(void) {
  struct pen *made = malloc(sizeof *made);
  if (!made) exit(1);
  *made = (struct pen){.colour = "black"};
  return made;
}

static KEEP void layer(long number, long parent) {
  if (number < 0 || number >= LAYERS) return;
  parents[number] = parent >= 0 && parent < LAYERS ? parent : -1;
}

static KEEP void draw(const char *line) {
  char shape[12] = "";
  long a = 0, b = 0;
  int words = sscanf(line, "%11s %ld %ld", shape, &a, &b);
  if (words < 1) return;
  if (strcmp(shape, "dot") == 0 && words == 3) draw_dot(a, b);
  if (strcmp(shape, "grid") == 0 && words > 1) draw_grid(a);
  if (strcmp(shape, "line") == 0 && words > 1) draw_line(a);
  if (strcmp(shape, "title") == 0 && strlen(line) > 6) set_title(line + 6);
  if (strcmp(shape, "layer") == 0 && words == 3) layer(a, b);
  if (strcmp(shape, "show") == 0 && a >= 0 && a < LAYERS) sink += draw_layer(a);
  if (strcmp(shape, "pen") == 0) pen = new_pen();
  if (strcmp(shape, "fill") == 0) fill(a);
  if (strcmp(shape, "scale") == 0 && words > 1) scale_all(a);
  if (strcmp(shape, "brush") == 0) brush = new_pen();
  if (strcmp(shape, "end") == 0) close_brush();
  sink += words;
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
  char line[LINE];
  canvas = calloc(HEIGHT, WIDTH);
  if (!file || !canvas) return 1;
  memset(parents, -1, sizeof parents);
  for (int i = 0; i < 1000 && fgets(line, sizeof line, file); i++) draw(line);
  printf("%s\n", title);
  return 0;
}

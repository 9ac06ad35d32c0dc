/* Unpacks small pictures, with four bugs. Each is in a function of its own.
 *
 *   "PX" WIDTH HEIGHT COLOURS PACKING BACKGROUND, then COLOURS times red, green, blue, then pixels,
 *   then perhaps "CR" X Y WIDTH ANGLE
 *
 *   bug   function     what happens                when                              how deep
 *   1     run          writes behind a table       1 of 400,000 runs                 a header, then luck
 *   2     background   reads behind a heap block   BACKGROUND is COLOURS, even       a whole picture, then one byte
 *   3     jump         writes behind a table       1 of 400,000 jumps                a header, a zero, then luck
 *   4     crop         writes behind a table       1 of 30,000 places and widths     a whole picture, two letters,
 *                                                                                    then luck
 *
 * The tables count what occurs, and each is one place too short. Packing 0: a byte a pixel.
 * Packing 1: COUNT PIXEL, or 0 DX DY PIXEL to jump. Build it with -fsanitize=address. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))
enum { MOST = 32, RUNS = 400000, JUMPS = 400000, CROPS = 30000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct picture {
  uint8_t width, height, colours;
  uint8_t *palette, *pixels;
};

struct input {
  const uint8_t *at, *end;
};

static uint8_t runs[RUNS - 1], jumps[JUMPS - 1], crops[CROPS - 1];
static volatile unsigned sink;

/* Spreads numbers evenly over tables. */
static uint32_t spread(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t h = (a * 0x9e3779b1u ^ b) * 0x85ebca6bu ^ c;
  h = (h ^ h >> 15) * 0xc2b2ae35u;
  return h ^ h >> 13;
}

static size_t left(const struct input *in) { return (size_t)(in->end - in->at); }

/* The palette has space for an even number of colours. */
static KEEP void background(const struct picture *p, uint8_t pixel) {
  if (pixel > p->colours) return;
  const uint8_t *rgb = p->palette + 3 * (size_t)pixel;
  sink += rgb[0] + 2u * rgb[1] + 4u * rgb[2];
}

static KEEP int run(struct picture *p, size_t at, uint8_t count, uint8_t pixel) {
  if (at + count > (size_t)p->width * p->height) return 0;
  runs[spread((uint32_t)at, count, pixel) % RUNS]++;
  for (size_t i = 0; i < count; i++) p->pixels[at + i] = pixel;
  return 1;
}

static KEEP int jump(struct picture *p, size_t x, size_t y, uint8_t pixel) {
  if (x >= p->width || y >= p->height) return 0;
  jumps[spread((uint32_t)x, (uint32_t)y, pixel) % JUMPS]++;
  p->pixels[y * p->width + x] = pixel;
  return 1;
}

static KEEP void crop(const struct picture *p, const uint8_t *box) {
  size_t x = box[0], y = box[1], width = box[2];
  if (y >= p->height || x + width > p->width || width == 0) return;
  crops[spread((uint32_t)x, (uint32_t)y, (uint32_t)width + 256u * box[3]) % CROPS]++;
  for (size_t i = 0; i < width; i++) sink += p->pixels[y * p->width + x + i];
}

static int unpack_bytes(struct picture *p, struct input *in) {
  size_t size = (size_t)p->width * p->height;
  if (left(in) < size) return 0;
  memcpy(p->pixels, in->at, size);
  in->at += size;
  return 1;
}

static int unpack_runs(struct picture *p, struct input *in) {
  size_t at = 0, size = (size_t)p->width * p->height;
  while (at < size) {
    if (left(in) < 4) return 0;
    uint8_t count = in->at[0];
    if (count > 0) {
      if (!run(p, at, count, in->at[1])) return 0;
      at += count;
      in->at += 2;
      continue;
    }
    size_t x = at % p->width + in->at[1], y = at / p->width + in->at[2];
    if (!jump(p, x, y, in->at[3])) return 0;
    at = y * p->width + x + 1;
    in->at += 4;
  }
  return 1;
}

static void read_picture(struct picture *p, struct input *in, uint8_t packing, uint8_t behind) {
  if (!(packing ? unpack_runs(p, in) : unpack_bytes(p, in))) return;
  background(p, behind);
  if (left(in) >= 6 && in->at[0] == 'C' && in->at[1] == 'R') crop(p, in->at + 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct input in = {data + 7, data + size};
  if (size < 7 || data[0] != 'P' || data[1] != 'X') return 0;
  struct picture p = {data[2], data[3], data[4], NULL, NULL};
  size_t palette = 3 * (size_t)p.colours;
  if (p.width == 0 || p.width > MOST || p.height == 0 || p.height > MOST) return 0;
  if (palette == 0 || left(&in) < palette || data[5] > 1) return 0;
  p.palette = malloc(palette + 3 * (p.colours % 2));
  p.pixels = calloc(p.height, p.width);
  if (p.palette && p.pixels) {
    memcpy(p.palette, in.at, palette);
    in.at += palette;
    read_picture(&p, &in, data[5], data[6]);
  }
  free(p.palette);
  free(p.pixels);
  return 0;
}

// libpng: reads a whole image, row by row, with the usual transformations to 8-bit RGBA.
#include <png.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INPUT (1u << 16)
#define MAX_SIDE 1024
#define MAX_PIXELS (1u << 17)
#define MAX_MEMORY (1u << 18)

struct reader {
  const uint8_t *data;
  size_t left;
};

static void read_bytes(png_structp png, png_bytep out, size_t count) {
  struct reader *reader = png_get_io_ptr(png);
  if (count > reader->left) png_error(png, "end of input");
  memcpy(out, reader->data, count);
  reader->data += count;
  reader->left -= count;
}

static void on_error(png_structp png, png_const_charp message) {
  (void)message;
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}

// A chunk's claimed length is allocated and cleared before any of it is read; gigabytes of that
// would be most of the run time.
static png_voidp allocate(png_structp png, png_alloc_size_t size) {
  (void)png;
  return size > MAX_MEMORY ? NULL : malloc(size);
}

static void release(png_structp png, png_voidp memory) {
  (void)png;
  free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MAX_INPUT) return 0;
  struct reader reader = {data, size};
  png_infop volatile info = NULL;
  png_infop volatile end = NULL;
  png_bytep volatile row = NULL;
  png_structp png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning, NULL,
                                             allocate, release);
  if (!png) return 0;
  if (setjmp(png_jmpbuf(png))) goto done;
  info = png_create_info_struct(png);
  end = png_create_info_struct(png);
  if (!info || !end) goto done;
  png_set_read_fn(png, &reader, read_bytes);
  png_set_user_limits(png, MAX_SIDE, MAX_SIDE);
  png_set_chunk_malloc_max(png, MAX_MEMORY);
  png_set_chunk_cache_max(png, 64);
  // Otherwise nearly every mutation dies at a checksum.
  png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
  png_set_option(png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
  png_read_info(png, info);
  if ((uint64_t)png_get_image_width(png, info) * png_get_image_height(png, info) > MAX_PIXELS)
    goto done;
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
  int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  png_uint_32 height = png_get_image_height(png, info);
  row = calloc(1, png_get_rowbytes(png, info));
  if (!row) goto done;
  for (int pass = 0; pass < passes; pass++)
    for (png_uint_32 y = 0; y < height; y++) png_read_row(png, row, NULL);
  png_read_end(png, end);
done:
  free(row);
  png_infop first = info, last = end;
  png_destroy_read_struct(&png, &first, &last);
  return 0;
}

// giflib: reads all pictures and extensions of a GIF, line by line.
#include <gif_lib.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MAX_INPUT (1u << 14)
#define MAX_SIDE 4096
#define MAX_LINES 20000

struct rest {
  const uint8_t *data;
  size_t size;
};

static int take(GifFileType *gif, GifByteType *buffer, int wanted) {
  struct rest *rest = gif->UserData;
  size_t count = (size_t)wanted < rest->size ? (size_t)wanted : rest->size;
  memcpy(buffer, rest->data, count);
  rest->data += count;
  rest->size -= count;
  return (int)count;
}

static int read_picture(GifFileType *gif, int *lines) {
  static GifPixelType line[MAX_SIDE];
  if (DGifGetImageDesc(gif) == GIF_ERROR) return 0;
  if (gif->Image.Width > MAX_SIDE) return 0;
  for (int row = 0; row < gif->Image.Height; row++)
    if (--*lines < 0 || DGifGetLine(gif, line, gif->Image.Width) == GIF_ERROR) return 0;
  return 1;
}

static int read_extension(GifFileType *gif) {
  GifByteType *block;
  int code;
  if (DGifGetExtension(gif, &code, &block) == GIF_ERROR) return 0;
  GraphicsControlBlock control;
  if (block && code == GRAPHICS_EXT_FUNC_CODE) DGifExtensionToGCB(block[0], block + 1, &control);
  while (block)
    if (DGifGetExtensionNext(gif, &block) == GIF_ERROR) return 0;
  return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MAX_INPUT) return 0;
  struct rest rest = {data, size};
  int error, lines = MAX_LINES, going = 1;
  GifFileType *gif = DGifOpen(&rest, take, &error);
  if (!gif) return 0;
  while (going) {
    GifRecordType type;
    if (DGifGetRecordType(gif, &type) == GIF_ERROR) break;
    if (type == IMAGE_DESC_RECORD_TYPE) going = read_picture(gif, &lines);
    else if (type == EXTENSION_RECORD_TYPE) going = read_extension(gif);
    else going = 0;
  }
  DGifCloseFile(gif, &error);
  return 0;
}

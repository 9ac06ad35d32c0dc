// zlib: one-shot decompression of zlib streams, and chunked inflate of gzip members.
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#define MAX_INPUT (1u << 16)
#define MAX_OUTPUT (1u << 20)

static uint8_t output[MAX_OUTPUT];
static uint8_t chunk[4096];

static void inflate_chunks(const uint8_t *data, size_t size) {
  z_stream stream;
  gz_header header;
  uint8_t name[64], comment[64], extra[64];
  memset(&stream, 0, sizeof stream);
  memset(&header, 0, sizeof header);
  stream.next_in = (Bytef *)data;
  stream.avail_in = (uInt)size;
  if (inflateInit2(&stream, 15 + 32) != Z_OK) return;
  header.name = name;
  header.name_max = sizeof name;
  header.comment = comment;
  header.comm_max = sizeof comment;
  header.extra = extra;
  header.extra_max = sizeof extra;
  inflateGetHeader(&stream, &header);
  int status = Z_OK;
  while (status == Z_OK && stream.total_out < MAX_OUTPUT) {
    stream.next_out = chunk;
    stream.avail_out = sizeof chunk;
    status = inflate(&stream, Z_NO_FLUSH);
  }
  inflateEnd(&stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MAX_INPUT) return 0;
  if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b) {
    inflate_chunks(data, size);
  } else {
    uLongf length = MAX_OUTPUT;
    uncompress(output, &length, data, (uLong)size);
  }
  return 0;
}

// jansson: reads a document with the options of the first byte, and writes it again.
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  json_object_seed(1); // the order of keys is the same in every process
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size) return 0;
  size_t read = 0, write = JSON_ENCODE_ANY;
  if (data[0] & 1) read |= JSON_REJECT_DUPLICATES;
  if (data[0] & 2) read |= JSON_DECODE_ANY;
  if (data[0] & 4) read |= JSON_DISABLE_EOF_CHECK;
  if (data[0] & 8) read |= JSON_DECODE_INT_AS_REAL;
  if (data[0] & 16) read |= JSON_ALLOW_NUL;
  if (data[0] & 32) write |= JSON_SORT_KEYS;
  if (data[0] & 64) write |= JSON_ENSURE_ASCII;
  if (data[0] & 128) write |= JSON_INDENT(2);
  json_t *root = json_loadb((const char *)data + 1, size - 1, read, NULL);
  if (root) free(json_dumps(root, write));
  json_decref(root);
  return 0;
}

// cJSON: patches a document, and makes the patch between the two; they are parted by a line end.
#include <cJSON.h>
#include <cJSON_Utils.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MAX_INPUT 4096

static void patch(cJSON *document, cJSON *changes) {
  cJSON *merged = cJSONUtils_MergePatch(cJSON_Duplicate(document, 1), changes);
  cJSON_Delete(cJSONUtils_GeneratePatches(document, merged));
  cJSON_Delete(cJSONUtils_GenerateMergePatch(document, merged));
  cJSON_Delete(merged);
  cJSONUtils_ApplyPatches(document, changes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MAX_INPUT) return 0;
  const uint8_t *end = memchr(data, '\n', size);
  if (!end) return 0;
  size_t first = (size_t)(end - data);
  cJSON *document = cJSON_ParseWithLength((const char *)data, first);
  cJSON *changes = cJSON_ParseWithLength((const char *)end + 1, size - first - 1);
  if (document && changes) patch(document, changes);
  cJSON_Delete(document);
  cJSON_Delete(changes);
  return 0;
}

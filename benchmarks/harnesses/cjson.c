// cJSON: parses a text, writes it out twice, and parses what was written.
#include <cJSON.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_INPUT 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MAX_INPUT) return 0;
  cJSON *value = cJSON_ParseWithLengthOpts((const char *)data, size, NULL, 0);
  if (!value) return 0;
  char *text = cJSON_Print(value);
  char *brief = cJSON_PrintUnformatted(value);
  if (brief) cJSON_Delete(cJSON_Parse(brief));
  free(text);
  free(brief);
  cJSON_Delete(value);
  return 0;
}

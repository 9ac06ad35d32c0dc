// LibYAML: reads documents event by event and writes them again.
#include <stddef.h>
#include <stdint.h>
#include <yaml.h>

#define MAX_INPUT 4096

static int forget(void *data, unsigned char *buffer, size_t size) {
  return (void)data, (void)buffer, (void)size, 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  yaml_parser_t parser;
  yaml_emitter_t emitter;
  yaml_event_t event;
  int over = 0;
  if (size > MAX_INPUT || !yaml_parser_initialize(&parser)) return 0;
  if (yaml_emitter_initialize(&emitter)) {
    yaml_parser_set_input_string(&parser, data, size);
    yaml_emitter_set_output(&emitter, forget, NULL);
    while (!over && yaml_parser_parse(&parser, &event)) {
      over = event.type == YAML_STREAM_END_EVENT;
      if (!yaml_emitter_emit(&emitter, &event)) over = 1; /* which has freed the event */
    }
    yaml_emitter_delete(&emitter);
  }
  yaml_parser_delete(&parser);
  return 0;
}

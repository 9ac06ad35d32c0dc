// libxml2: compiles a regular expression and matches a text; they are parted by a line end.
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <libxml/xmlregexp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Matching may take exponential time.
#define MAX_INPUT 160

static void ignore(void *context, const char *message, ...) {
  (void)context;
  (void)message;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  xmlInitParser();
  xmlSetGenericErrorFunc(NULL, ignore);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char text[MAX_INPUT + 1];
  if (size > MAX_INPUT) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  char *end = strchr(text, '\n');
  if (end) *end = 0;
  xmlRegexpPtr compiled = xmlRegexpCompile((const xmlChar *)text);
  if (compiled) {
    if (end) xmlRegexpExec(compiled, (const xmlChar *)end + 1);
    xmlRegexpIsDeterminist(compiled);
    xmlRegFreeRegexp(compiled);
  }
  xmlResetLastError();
  return 0;
}

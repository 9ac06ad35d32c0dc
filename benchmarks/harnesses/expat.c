// Expat: parses a document in two pieces, with handlers for everything.
#include <expat.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_INPUT (1u << 15)

static void XMLCALL start(void *data, const XML_Char *name, const XML_Char **attributes) {
  (void)data, (void)name, (void)attributes;
}
static void XMLCALL end(void *data, const XML_Char *name) { (void)data, (void)name; }
static void XMLCALL text(void *data, const XML_Char *characters, int length) {
  (void)data, (void)characters, (void)length;
}
static void XMLCALL instruction(void *data, const XML_Char *target, const XML_Char *content) {
  (void)data, (void)target, (void)content;
}
static void XMLCALL comment(void *data, const XML_Char *content) { (void)data, (void)content; }
static void XMLCALL element(void *data, const XML_Char *name, XML_Content *model) {
  (void)name;
  XML_FreeContentModel((XML_Parser)data, model);
}
static void XMLCALL attribute(void *data, const XML_Char *owner, const XML_Char *name,
                              const XML_Char *type, const XML_Char *value, int required) {
  (void)data, (void)owner, (void)name, (void)type, (void)value, (void)required;
}
static void XMLCALL entity(void *data, const XML_Char *name, int parameter, const XML_Char *value,
                           int length, const XML_Char *base, const XML_Char *system,
                           const XML_Char *public, const XML_Char *notation) {
  (void)data, (void)name, (void)parameter, (void)value, (void)length;
  (void)base, (void)system, (void)public, (void)notation;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MAX_INPUT) return 0;
  XML_Parser parser = XML_ParserCreateNS(NULL, '|');
  if (!parser) return 0;
  // The salt is random otherwise, and with it the order in which hash tables collide.
  XML_SetHashSalt(parser, 2021);
  XML_SetBillionLaughsAttackProtectionActivationThreshold(parser, 1u << 18);
  XML_SetParamEntityParsing(parser, XML_PARAM_ENTITY_PARSING_ALWAYS);
  XML_UseParserAsHandlerArg(parser);
  XML_SetElementHandler(parser, start, end);
  XML_SetCharacterDataHandler(parser, text);
  XML_SetProcessingInstructionHandler(parser, instruction);
  XML_SetCommentHandler(parser, comment);
  XML_SetElementDeclHandler(parser, element);
  XML_SetAttlistDeclHandler(parser, attribute);
  XML_SetEntityDeclHandler(parser, entity);
  int half = (int)(size / 2);
  if (XML_Parse(parser, (const char *)data, half, XML_FALSE) == XML_STATUS_OK)
    XML_Parse(parser, (const char *)data + half, (int)size - half, XML_TRUE);
  XML_ParserFree(parser);
  return 0;
}

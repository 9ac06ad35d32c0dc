// TinyXML-2: parses a document and writes it out.
#include <tinyxml2.h>

#include <cstddef>
#include <cstdint>

static constexpr size_t kMaxInput = 4096;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > kMaxInput) return 0;
  tinyxml2::XMLDocument document;
  document.Parse(reinterpret_cast<const char *>(data), size);
  tinyxml2::XMLPrinter printer;
  if (!document.Error()) document.Print(&printer);
  return 0;
}

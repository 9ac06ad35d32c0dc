// nlohmann-json: parses a text, writes it out, and parses what was written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

// dump() recurses once a nesting level, so this also bounds the stack.
static constexpr size_t kMaxInput = 4096;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > kMaxInput) return 0;
  using nlohmann::json;
  const json value = json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return 0;
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (json::parse(text, nullptr, /*allow_exceptions=*/false).is_discarded()) std::abort();
  return 0;
}

#include <charconv>

#include "tokenizers/hugging_face/hf_steps.h"
#include "utils/text/utf8.h"

// Byte tokens like <0x0A>, by which a vocabulary without a character spells it.

namespace mpitron::tokenizers {

int fallback_byte(std::string_view token) {
  unsigned value = 0;
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) {
    return -1;
  }
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  return error == std::errc() && end == token.data() + 5 ? static_cast<int>(value) : -1;
}

/// Turns a run of byte tokens into the text of its bytes, or into one U+FFFD for each byte where
/// they are no UTF-8.
TokenRule make_byte_fallback(const JsonView&) {
  return [](std::vector<std::string>& tokens) {
    std::vector<std::string> out;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) {
        return;
      }
      if (replace_invalid_utf8(bytes) == bytes) {
        out.push_back(bytes);
      } else {
        out.insert(out.end(), bytes.size(), "\xEF\xBF\xBD");
      }
      bytes.clear();
    };
    for (const std::string& token : tokens) {
      if (const int byte = fallback_byte(token); byte >= 0) {
        bytes += static_cast<char>(byte);
      } else {
        flush();
        out.push_back(token);
      }
    }
    flush();
    tokens = std::move(out);
  };
}

}  // namespace mpitron::tokenizers

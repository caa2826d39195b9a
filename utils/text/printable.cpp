#include "utils/text/printable.h"

#include <cstddef>

namespace mpitron {
namespace {

constexpr std::string_view kReplacementText = "\xef\xbf\xbd";

bool is_ascii_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20U && c != '\n' && c != '\t') || byte == 0x7fU;
}

/// U+0080 to U+009F: C2 80 to C2 9F.
bool is_late_control(std::string_view text) {
  return text.size() > 1 && text[0] == '\xc2' && static_cast<unsigned char>(text[1]) >= 0x80U &&
         static_cast<unsigned char>(text[1]) <= 0x9fU;
}

}  // namespace

bool holds_controls(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_ascii_control(text[i]) || is_late_control(text.substr(i))) {
      return true;
    }
  }
  return false;
}

std::string without_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_late_control(text.substr(i))) {
      out += kReplacementText;
      ++i;
    } else if (is_ascii_control(text[i])) {
      out += kReplacementText;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace mpitron

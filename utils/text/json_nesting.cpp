#include "utils/text/json_nesting.h"

#include <cstddef>

namespace mpitron {

bool nests_too_deep(std::string_view json) {
  constexpr int kDeepest = 512;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size() && depth <= kDeepest; ++i) {
    const char c = json[i];
    if (c == '"') {
      in_text = !in_text;
    } else if (in_text) {
      i += c == '\\' ? 1 : 0;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return depth > kDeepest;
}

}  // namespace mpitron

#include "utils/text/json_nesting.h"

namespace mpitron {
namespace {

/// Calls use(c) for every character outside of texts while it returns true.
template <class Use>
void scan(std::string_view json, Use&& use) {
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      in_text = !in_text;
    } else if (in_text) {
      i += c == '\\' ? 1 : 0;
    } else if (!use(c)) {
      return;
    }
  }
}

}  // namespace

bool nests_too_deep(std::string_view json) {
  constexpr int kDeepest = 512;
  int depth = 0;
  scan(json, [&](char c) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    return depth <= kDeepest;
  });
  return depth > kDeepest;
}

bool has_many_members(std::string_view json, std::size_t most) {
  std::size_t members = 0;
  scan(json, [&](char c) {
    members += c == ':' ? 1 : 0;
    return members <= most;
  });
  return members > most;
}

bool unlike_real_objects(std::string_view json) {
  constexpr std::size_t kMostMembers = 20'000;
  return nests_too_deep(json) || has_many_members(json, kMostMembers);
}

}  // namespace mpitron

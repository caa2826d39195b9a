#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "utils/error.h"

namespace mpitron::cli {

/// Removes a flag that belongs to the command itself, not to the options table; true if it was
/// there.
inline bool take_flag(Arguments& arguments, std::string_view flag) {
  const auto kept = std::remove(arguments.begin(), arguments.end(), flag);
  const bool found = kept != arguments.end();
  arguments.erase(kept, arguments.end());
  return found;
}

/// The same of `--flag VALUE` or `--flag=VALUE`; the last of several counts. Error(usage) where the
/// value is missing.
inline std::optional<std::string> take_value(Arguments& arguments, const std::string& flag) {
  std::optional<std::string> value;
  for (std::size_t i = 0; i < arguments.size();) {
    const auto at = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    if (at->starts_with(flag + "=")) {
      value = at->substr(flag.size() + 1);
      arguments.erase(at);
    } else if (*at == flag) {
      if (at + 1 == arguments.end()) {
        throw_usage("{}: a value must follow", flag);
      }
      value = *(at + 1);
      arguments.erase(at, at + 2);
    } else {
      ++i;
    }
  }
  return value;
}

}  // namespace mpitron::cli

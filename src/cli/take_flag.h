#pragma once
#include <algorithm>
#include <string_view>

#include "cli/command.h"

namespace mpitron::cli {

/// Removes a flag that belongs to the command itself, not to the options table; true if it was
/// there.
inline bool take_flag(Arguments& arguments, std::string_view flag) {
  const auto kept = std::remove(arguments.begin(), arguments.end(), flag);
  const bool found = kept != arguments.end();
  arguments.erase(kept, arguments.end());
  return found;
}

}  // namespace mpitron::cli

#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "utils/error.h"

namespace mpitron::optim {

/// The spellings of an enumeration in checkpoints, which are those of the command line.
template <class Style, std::size_t Count>
struct StyleNames {
  std::array<std::pair<std::string_view, Style>, Count> rows;

  /// Error(data) naming `entry` of the checkpoint and the allowed spellings.
  Style parse(std::string_view entry, std::string_view given) const {
    std::string allowed;
    for (const auto& [name, style] : rows) {
      if (name == given) {
        return style;
      }
      allowed.append(allowed.empty() ? "" : ", ").append(name);
    }
    throw_data("checkpoint: {} '{}' is unknown, this program knows {}", entry, given, allowed);
  }

  /// Its spelling; "unknown" for a value that no row has.
  std::string_view name(Style wanted) const {
    for (const auto& [name, style] : rows) {
      if (style == wanted) {
        return name;
      }
    }
    return "unknown";
  }
};

}  // namespace mpitron::optim

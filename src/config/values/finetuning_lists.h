#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::config {

using NumberPattern = std::map<std::string, double>;

/// The words between commas; no empty ones.
std::vector<std::string> comma_list(std::string_view text);

/// `A-B` or `A`; nothing for anything else, and for the empty text.
std::optional<std::pair<Index, Index>> layer_range(std::string_view text);

/// `name=number,name=number`; nothing for anything else.
std::optional<NumberPattern> number_pattern(std::string_view text);

}  // namespace mpitron::config

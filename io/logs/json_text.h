#pragma once
#include <string>
#include <string_view>

namespace mpitron::io {

/// A JSON string literal with its quotes; control characters escaped, other bytes as they are
/// (UTF-8).
std::string json_string(std::string_view text);

/// A JSON number that reads back as the same double; `null` for NaN and infinities, which JSON
/// lacks.
std::string json_number(double value);

}  // namespace mpitron::io

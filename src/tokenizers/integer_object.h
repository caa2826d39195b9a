#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mpitron::tokenizers {

/// All members of one JSON object of integers, in the file's order. Error(data) for anything else.
std::vector<std::pair<std::string, std::int64_t>> parse_integer_object(std::string_view json);

}  // namespace mpitron::tokenizers

#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace mpitron::cli {

/// "; did you mean A or B?" for the words that are near to `word`; empty where none is.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);

std::vector<std::string_view> names_of(std::span<const Command> commands);

}  // namespace mpitron::cli

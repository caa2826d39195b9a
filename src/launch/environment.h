#pragma once
#include <map>
#include <optional>
#include <string>

#include "utils/numbers/shape.h"

namespace mpitron::launch {

/// Environment variables: those of this process, or made-up ones.
using Environment = std::map<std::string, std::string>;

Environment process_environment();

/// The variable's text; none where it is not set.
std::optional<std::string> text_of(const Environment& environment, const std::string& name);
/// Its leading integer, so that Slurm's "4(x2)" is 4; none where it has none.
std::optional<Index> number_of(const Environment& environment, const std::string& name);

}  // namespace mpitron::launch

#pragma once
#include <string>
#include <vector>

#include "config/sources/given_option.h"

namespace mpitron::config {

/// Cuts a command line into options and their words, by the rules of the reference's parser: whole
/// names only, `--name value` and `--name=value`, lists up to the next name, negative numbers are
/// values, the last one wins. `_` is read as `-`, with one notice. Adds findings for unknown names
/// and stray words; checks no values.
Reading read_command_line(const std::vector<std::string>& arguments);

}  // namespace mpitron::config

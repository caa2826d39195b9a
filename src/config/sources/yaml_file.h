#pragma once
#include <string>

#include "config/sources/given_option.h"

namespace mpitron::config {

/// Reads options from a YAML file: `hidden-size: 1024` or `hidden_size: 1024`, flat or nested by
/// the groups of
/// `--help`, lists as YAML lists, flags as true or false (nothing else). A stored name works too
/// (`add_bias_linear: false`). `${NAME}` and `${NAME:-text}` insert environment variables. Every
/// mistake becomes a finding with its line: unreadable file, wrong syntax, unknown or repeated key,
/// unset variable.
Reading read_yaml_file(const std::string& path);

}  // namespace mpitron::config

#pragma once
#include <string>
#include <vector>

#include "config/run_config.h"

namespace mpitron::plan {

/// An option of mpitron with its value; none for a flag.
struct LayoutFlag {
  std::string name;   // without dashes
  std::string value;  // empty for a flag; several words of a list
};

/// Returns the options that make this layout; sizes of 1 that are the default are left out.
std::vector<LayoutFlag> layout_flags(const config::RunConfig& run);

/// Returns `arguments` without options that say how to lay out, and with those of `run` behind
/// them.
std::vector<std::string> with_layout(const std::vector<std::string>& arguments,
                                     const config::RunConfig& run);

/// Returns the arguments as a YAML file for --yaml-cfg; the number of ranks is the launcher's and
/// left out.
std::string to_yaml(const std::vector<std::string>& arguments);

}  // namespace mpitron::plan

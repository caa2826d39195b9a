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

/// The options that make this layout.
std::vector<LayoutFlag> layout_flags(const config::RunConfig& run);

/// `arguments` without options that say how to lay out, and with those of `run` behind them.
std::vector<std::string> with_layout(const std::vector<std::string>& arguments,
                                     const config::RunConfig& run);

/// A YAML file for --yaml-cfg of the same.
std::string to_yaml(const std::vector<std::string>& arguments);

}  // namespace mpitron::plan

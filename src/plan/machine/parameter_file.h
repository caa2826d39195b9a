#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plan/machine/measured_costs.h"

namespace mpitron::plan {

/// A machine or stack file: nested keys joined by dots, values as written. What stands under
/// `fitted` is a calibrated value: it goes before the same key elsewhere; --refit changes these.
struct ParameterFile {
  std::string name;
  std::string path;                  // for messages
  std::string extends;               // name of the file whose values hold where this has none
  std::vector<std::string> aliases;  // other names of the same: hardware or sources of tables
  std::map<std::string, std::string> values;
  std::map<std::string, double> fitted;
  std::shared_ptr<const MeasuredCosts> measured;  // of the block of this name
};

/// Reads a file's text. Error(kBadParameterFile) with path and line.
ParameterFile parse_parameter_file(const std::string& text, const std::string& path);

/// Returns `text` with the block `fitted` replaced by these values; everything before it stays.
std::string with_fitted(const std::string& text, const std::map<std::string, double>& fitted);

}  // namespace mpitron::plan

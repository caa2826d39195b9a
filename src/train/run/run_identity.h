#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::train {

/// What a run's files say of the run that wrote them.
struct RunIdentity {
  std::string configuration;  // JSON of all options (config::values_json)
  std::string build;
  std::map<std::string, std::string> files = {};  // the tokenizer's, by name
  Index vocabulary = 0;                           // tokens that it knows; 0: not told
  bool accepts_changes = false;                   // --accept-changes
  std::string given = "{}";  // JSON of the options that the user gave, for reports
  // Names and values of all options (config::display_values), for TensorBoard.
  std::vector<std::pair<std::string, std::string>> arguments = {};
};

}  // namespace mpitron::train

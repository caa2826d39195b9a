#pragma once
#include <string>
#include <vector>

#include "convert/description/json_object.h"
#include "convert/description/model_description.h"

namespace mpitron::convert {

/// A config.json and what has been understood of it so far.
struct ConfigReading {
  const JsonObject& json;
  ModelDescription result = {};
  std::vector<std::string> problems = {};  // settings that this program cannot compute

  void require(bool met, const std::string& problem) {
    if (!met) {
      problems.push_back(problem);
    }
  }
};

/// Sizes that the families call differently. Without a name for layers something else tells them.
struct SizeNames {
  const char *layers, *hidden, *ffn, *heads, *positions, *epsilon, *activation;
};

/// The sizes, and heads as wide as they must be for the hidden size.
void read_sizes(const SizeNames& names, ConfigReading& reading);
/// But for the number of positions.
void write_sizes(const config::ModelConfig& model, const SizeNames& names, JsonObject& json);

}  // namespace mpitron::convert

#pragma once
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "support/corpus.h"

namespace mpitron::test {

/// A JSON file of the reference data.
inline nlohmann::json golden_json(const std::string& name) {
  std::ifstream file(golden_folder() + "/" + name);
  return nlohmann::json::parse(file);
}

}  // namespace mpitron::test

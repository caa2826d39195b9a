#pragma once
#include <fstream>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "support/golden_folder.h"

namespace mpitron::test {

/// A section of tables.json; throws where the file or the section is missing, which fails the test.
inline nlohmann::json golden_table(const std::string& section) {
  const std::string path = golden_folder() + "/tables.json";
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error("cannot read " + path + ": set MPITRON_GOLDEN_DIR");
  }
  return nlohmann::json::parse(file).at(section);
}

}  // namespace mpitron::test

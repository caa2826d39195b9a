#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

namespace mpitron::testing {

/// Folder of the reference data: $MPITRON_GOLDEN_DIR, else tests/golden.
inline std::filesystem::path golden_dir() {
  const char* set = std::getenv("MPITRON_GOLDEN_DIR");
  return set != nullptr ? std::filesystem::path(set)
                        : std::filesystem::path(MPITRON_SOURCE_DIR) / "tests" / "golden";
}

/// A section of tables.json; throws where the file or the section is missing, which fails the test.
inline nlohmann::json golden_table(const std::string& section) {
  const std::filesystem::path path = golden_dir() / "tables.json";
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error("cannot read " + path.string() + ": set MPITRON_GOLDEN_DIR");
  }
  return nlohmann::json::parse(file).at(section);
}

}  // namespace mpitron::testing

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

/// Whether the reference data have this file; a test without it skips itself, naming it.
inline bool has_golden(const std::string& name) {
  return std::ifstream(golden_folder() + "/" + name).good();
}

/// End of a document in the token files: the NullTokenizer's last id, behind its vocabulary.
inline std::int64_t golden_eod() {
  static const std::int64_t eod = golden_json("dataset/indices.json")["eod"];
  return eod;
}

}  // namespace mpitron::test

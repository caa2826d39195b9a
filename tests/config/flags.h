#pragma once
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "config/parse.h"

namespace mpitron::config::test {

/// A small legal GPT run.
inline const char* const kBase =
    "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 32 "
    "--max-position-embeddings 32 "
    "--micro-batch-size 2 --global-batch-size 8 --train-iters 20 --lr 0.002";

inline ParsedRun parse_text(const std::string& flags) {
  return parse_run(split_words(flags));
}

/// The base run with further flags; a later flag wins.
inline ParsedRun parse_base(const std::string& more) {
  return parse_text(std::string(kBase) + " " + more);
}

inline std::vector<std::string> finding_ids(const ParsedRun& parsed) {
  std::vector<std::string> found;
  for (const Finding& finding : parsed.findings) {
    found.push_back(finding.id);
  }
  return found;
}

inline bool has_finding(const ParsedRun& parsed, const std::string& id) {
  const std::vector<std::string> found = finding_ids(parsed);
  return std::find(found.begin(), found.end(), id) != found.end();
}

/// Everything that is wrong, for messages of tests.
inline std::string all_findings(const ParsedRun& parsed) {
  return parsed.findings.empty() ? "no findings" : to_text(parsed.findings);
}

inline std::filesystem::path golden_folder() {
  const char* set = std::getenv("MPITRON_GOLDEN_DIR");
  return set ? set : std::filesystem::path(MPITRON_SOURCE_DIR) / "tests/golden";
}

}  // namespace mpitron::config::test

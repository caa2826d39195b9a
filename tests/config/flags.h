#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "config/parse/parse.h"

namespace mpitron::test {

/// A small legal GPT run.
inline const char* const kBase =
    "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 32 "
    "--max-position-embeddings 32 "
    "--micro-batch-size 2 --global-batch-size 8 --train-iters 20 --lr 0.002";

inline config::ParsedRun parse_text(const std::string& flags) {
  return config::parse_run(config::split_words(flags));
}

/// The base run with further flags; a later flag wins.
inline config::ParsedRun parse_base(const std::string& more) {
  return parse_text(fmt::format("{} {}", kBase, more));
}

inline std::vector<std::string> finding_ids(const config::ParsedRun& parsed) {
  std::vector<std::string> found;
  for (const config::Finding& finding : parsed.findings) {
    found.push_back(finding.id);
  }
  return found;
}

inline bool has_finding(const config::ParsedRun& parsed, const std::string& id) {
  const std::vector<std::string> found = finding_ids(parsed);
  return std::find(found.begin(), found.end(), id) != found.end();
}

/// Everything that is wrong, for messages of tests.
inline std::string all_findings(const config::ParsedRun& parsed) {
  return parsed.findings.empty() ? "no findings" : config::to_text(parsed.findings);
}

}  // namespace mpitron::test

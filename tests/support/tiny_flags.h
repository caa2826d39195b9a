#pragma once
#include <string>
#include <vector>

namespace mpitron::test {

/// The flags of a small legal GPT run, with others behind them: a later flag wins.
inline std::vector<std::string> tiny_flags(const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"--num-layers",
                                    "4",
                                    "--hidden-size",
                                    "64",
                                    "--num-attention-heads",
                                    "4",
                                    "--seq-length",
                                    "32",
                                    "--micro-batch-size",
                                    "1",
                                    "--max-position-embeddings",
                                    "32",
                                    "--train-iters",
                                    "5",
                                    "--lr",
                                    "1e-3"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace mpitron::test

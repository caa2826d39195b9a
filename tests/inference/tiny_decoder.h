#pragma once
#include <string>
#include <vector>

#include "config/parse/parse.h"

namespace mpitron::test {

/// A GPT of two layers for engines; `more` replaces what is given before it.
inline config::ModelConfig tiny_decoder(const std::vector<std::string>& more) {
  std::vector<std::string> flags = {"--num-layers",
                                    "2",
                                    "--hidden-size",
                                    "32",
                                    "--num-attention-heads",
                                    "4",
                                    "--seq-length",
                                    "64",
                                    "--max-position-embeddings",
                                    "64",
                                    "--micro-batch-size",
                                    "1",
                                    "--train-iters",
                                    "1",
                                    "--lr",
                                    "1e-3",
                                    "--mock-data",
                                    "--init-method-std",
                                    "0.3"};
  flags.insert(flags.end(), more.begin(), more.end());
  config::ModelConfig config = config::parse_run_config(flags).model;
  config.padded_vocab_size = 64;
  return config;
}

}  // namespace mpitron::test

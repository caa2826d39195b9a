#pragma once
#include <string>
#include <vector>

#include "config/parse/parse.h"
#include "config/values/option_table.h"

namespace mpitron::test {

/// A GPT of two layers for engines; `more` replaces what is given before it.
inline config::ModelConfig tiny_decoder(const std::vector<std::string>& more) {
  std::vector<std::string> flags = config::split_words(
      "--num-layers 2 --hidden-size 32 --num-attention-heads 4 --seq-length 64 "
      "--max-position-embeddings 64 --micro-batch-size 1 --train-iters 1 --lr 1e-3 "
      "--data-path none --init-method-std 0.3");
  flags.insert(flags.end(), more.begin(), more.end());
  config::ModelConfig config = config::parse_run_config(flags).model;
  config.padded_vocab_size = 64;
  return config;
}

/// Flags of small layers with states: the letters are M, G, *, - and those of depths.
inline std::vector<std::string> letters(const std::string& pattern, Index layers) {
  return {"--model",
          "mamba",
          "--hybrid-layer-pattern",
          pattern,
          "--num-layers",
          std::to_string(layers),
          "--mamba-head-dim",
          "8",
          "--mamba-num-groups",
          "2",
          "--mamba-state-dim",
          "6",
          "--linear-num-key-heads",
          "2",
          "--linear-num-value-heads",
          "4",
          "--linear-key-head-dim",
          "8",
          "--linear-value-head-dim",
          "4",
          "--swiglu",
          "--normalization",
          "RMSNorm",
          "--disable-bias-linear"};
}

}  // namespace mpitron::test

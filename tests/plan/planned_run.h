#pragma once
#include <string>
#include <vector>

#include "config/parse/parse.h"
#include "plan/model/job.h"
#include "plan/model/layout.h"

namespace mpitron::test {

/// A decoder by its sizes, in bf16 with fp32 gradients.
struct Sizes {
  Index layers = 0;
  Index hidden = 0;
  Index heads = 0;
  Index ffn = 0;       // 0: 4 hidden
  Index kv_heads = 0;  // 0: heads
  Index vocabulary = 51200;
  bool gated = false;
  bool tied = true;
};

inline config::RunConfig planned_run(const Sizes& sizes, Index sequence, Index batch,
                                     const plan::Layout& layout = {}) {
  config::RunConfig run;
  run.model.num_layers = sizes.layers;
  run.model.hidden_size = sizes.hidden;
  run.model.ffn_hidden_size = sizes.ffn > 0 ? sizes.ffn : 4 * sizes.hidden;
  run.model.num_attention_heads = sizes.heads;
  run.model.num_query_groups = sizes.kv_heads > 0 ? sizes.kv_heads : sizes.heads;
  run.model.kv_channels = sizes.hidden / sizes.heads;
  run.model.gated_linear_unit = sizes.gated;
  run.model.padded_vocab_size = sizes.vocabulary;
  run.model.untie_embeddings_and_output_weights = !sizes.tied;
  run.model.seq_length = run.training.seq_length = sequence;
  run.training.global_batch_size = batch;
  plan::apply(layout, run);
  return run;
}

/// The options of a tiny model, and more behind them.
inline std::vector<std::string> tiny_flags(const std::string& more = "") {
  std::vector<std::string> flags;
  std::string word;
  const std::string text =
      "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 32 "
      "--max-position-embeddings 32 --micro-batch-size 1 --global-batch-size 16 --train-iters 4 "
      "--lr 1e-3 --tokenizer-type NullTokenizer --vocab-size 127 --mock-data " +
      more + " ";
  for (const char c : text) {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      flags.push_back(word);
      word.clear();
    }
  }
  return flags;
}

inline config::RunConfig tiny_run(const std::string& more = "") {
  return plan::make_job(config::parse_valid_run(tiny_flags(more)).run).run;
}

}  // namespace mpitron::test

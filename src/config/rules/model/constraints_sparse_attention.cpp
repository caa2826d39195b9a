#include <array>
#include <bit>

#include <fmt/format.h>

#include "config/layer_pattern.h"
#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"

// Rules of sparse attention: the sizes of its indexer, and what it does not go with.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Half of a Hadamard matrix is one, too, so its size is a power of two.
Result indexer_sizes(const Facts& f) {
  if (!f.run.model.indexer) {
    return {};
  }
  const IndexerConfig& indexer = *f.run.model.indexer;
  const Index rotary = f.run.model.qk_pos_emb_head_dim;
  std::vector<std::string> bad, nearest;
  const auto at_least_one = [&](const char* option, Index size, Index usual) {
    if (size < 1) {
      bad.push_back(size == 0 ? fmt::format("no --{}", option)
                              : fmt::format("--{} {}", option, size));
      nearest.push_back(fmt::format("--{} {}", option, usual));
    }
  };
  at_least_one("dsa-indexer-n-heads", indexer.heads, 64);
  at_least_one("dsa-indexer-head-dim", indexer.head_dim, 128);
  at_least_one("dsa-indexer-topk", indexer.topk, 2048);
  const auto size = static_cast<std::uint64_t>(std::max<Index>(indexer.head_dim, 1));
  if (indexer.head_dim > 0 && (!std::has_single_bit(size) || indexer.head_dim < rotary)) {
    bad.push_back(fmt::format("--dsa-indexer-head-dim {}, --qk-pos-emb-head-dim {}",
                              indexer.head_dim, rotary));
    const auto least = std::max(size, static_cast<std::uint64_t>(std::max<Index>(rotary, 1)));
    nearest.push_back(fmt::format("--dsa-indexer-head-dim {}", std::bit_ceil(least)));
  }
  if (indexer.loss_coefficient < 0 || indexer.norm_epsilon.value_or(1) <= 0) {
    bad.push_back(fmt::format("loss coefficient {}, epsilon {}", indexer.loss_coefficient,
                              indexer.norm_epsilon.value_or(f.run.model.norm_epsilon)));
    nearest.emplace_back("--dsa-indexer-loss-coeff 0.01 --dsa-indexer-k-norm-epsilon 1e-6");
  }
  return joined(bad, nearest);
}

/// Names the model's options that the reference refuses beside it.
Result indexer_model(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.indexer) {
    return {};
  }
  std::vector<std::string> bad, nearest;
  if (!m.family().decoder_only) {
    bad.emplace_back("an encoder, which sees what follows");
    nearest.emplace_back("a GPT or a hybrid");
  }
  if (!m.multi_latent_attention) {
    bad.emplace_back("no --multi-latent-attention");
    nearest.emplace_back("--multi-latent-attention");
  }
  if (m.add_bias_linear) {
    bad.emplace_back("biases of linear layers");
    nearest.emplace_back("--disable-bias-linear");
  }
  return joined(bad, nearest);
}

/// Names what hides keys by other rules than the indexer's, and where its kernels are not there.
Result indexer_alone(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.indexer) {
    return {};
  }
  std::vector<std::string> bad, nearest;
  const auto refuse = [&](bool given, const char* what, const char* instead) {
    if (given) {
      bad.emplace_back(what);
      nearest.emplace_back(instead);
    }
  };
  refuse(f.run.parallel.context_parallel_size > 1, "--context-parallel-size",
         "--context-parallel-size 1");
  refuse(f.run.training.device == "cuda", "--device cuda", "--device host");
  refuse(m.window_size.has_value(), "--window-size", "no window");
  refuse(m.attention_chunk_size.has_value(), "--attention-chunk-size", "no chunks");
  return joined(bad, nearest);
}

constexpr std::array kSparseAttentionRules = std::to_array<Constraint>({
    {"E290", "indexer_sizes",
     "an indexer has heads of a power of two that holds the rotary part, and keys to choose",
     "dsa-indexer-n-heads dsa-indexer-head-dim dsa-indexer-topk dsa-indexer-loss-coeff "
     "dsa-indexer-k-norm-epsilon qk-pos-emb-head-dim",
     "A Hadamard matrix turns its queries and keys; their first numbers have positions.",
     indexer_sizes},
    {"E291", "indexer_model", "sparse attention is latent attention without biases, in a decoder",
     "experimental-attention-variant hybrid-layer-pattern multi-latent-attention "
     "disable-bias-linear model",
     "Its indexer looks at latents of queries, and at keys in front of them.", indexer_model},
    {"E292", "indexer_alone",
     "sparse attention excludes context parallel ranks, GPUs, windows and chunks",
     "experimental-attention-variant hybrid-layer-pattern context-parallel-size device "
     "window-size attention-chunk-size",
     "Its keys are chosen on the host among all of a document; each rank has them all.",
     indexer_alone},
});

}  // namespace

std::span<const Constraint> sparse_attention_constraints() {
  return kSparseAttentionRules;
}

}  // namespace mpitron::config

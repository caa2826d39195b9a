#include <algorithm>
#include <numeric>

#include "plan/search/search.h"

// Walks over all layouts that divide a model, its batch and its GPUs.

namespace mpitron::plan {
namespace {

using config::ShardingStrategy;

constexpr Index kLongestOfOneRank = 16384;  // tokens of a sequence, before context is split
constexpr Index kMostChunks = 16;

std::vector<Index> divisors(Index value, Index most) {
  std::vector<Index> result;
  for (Index divisor = 1; divisor <= std::min(value, most); ++divisor) {
    if (value % divisor == 0) {
      result.push_back(divisor);
    }
  }
  return result;
}

/// Nested loops over the sizes of a layout: each level tries what the outer ones leave possible.
class SpaceWalk {
 public:
  SpaceWalk(const Machine& machine, const SearchSpace& space)
      : machine_(machine), space_(space), run_(space.job.run), layers_(run_.model.all_layers()) {}

  std::vector<Layout> walk() {
    layout_.gpus = run_.parallel.world_size;
    const auto node = static_cast<Index>(machine_.node_gpus);
    /// Tensor ranks divide heads and key groups, and stay within a node.
    const Index heads = std::gcd(run_.model.num_attention_heads,
                                 run_.model.multi_latent_attention ? run_.model.num_attention_heads
                                                                   : run_.model.num_query_groups);
    for (const Index tensor : choices("tp", divisors(std::gcd(heads, node), node))) {
      layout_.tensor = tensor;
      for (const Index context : choices("cp", contexts())) {
        layout_.context = context;
        for (const Index pipeline : choices("pp", pipelines())) {
          layout_.pipeline = pipeline;
          walk_stages();
        }
      }
    }
    return std::move(found_);
  }

 private:
  /// Returns the user's value where the key is fixed, even one that is not among `all`.
  std::vector<Index> choices(const char* key, std::vector<Index> all) const {
    const auto fixed = space_.fixed.find(key);
    return fixed == space_.fixed.end() ? all : std::vector<Index>{fixed->second};
  }

  /// Splits sequences only as long as a rank's part is at least half of what one rank takes.
  std::vector<Index> contexts() const {
    std::vector<Index> result = {1};
    for (Index c = 2; run_.model.seq_length / c >= kLongestOfOneRank / 2; c *= 2) {
      result.push_back(c);
    }
    return result;
  }

  std::vector<Index> pipelines() const {
    return divisors(layout_.gpus / (layout_.tensor * layout_.context), layers_);
  }

  void walk_stages() {
    if (layout_.gpus % (layout_.tensor * layout_.context * layout_.pipeline) != 0) {
      return;
    }
    for (const Index chunks : choices("vp", chunk_counts())) {
      layout_.chunks = chunks;
      for (const Index expert : choices("ep", experts())) {
        layout_.expert = expert;
        for (const Index expert_tensor : choices("etp", expert_tensors())) {
          layout_.expert_tensor = expert_tensor;
          walk_batches();
        }
      }
    }
  }

  /// Returns 1, and the numbers of chunks that have equally many layers each.
  std::vector<Index> chunk_counts() const {
    std::vector<Index> result = {1};
    for (Index chunks = 2; chunks <= kMostChunks && layout_.pipeline > 1; ++chunks) {
      const Index parts = layout_.pipeline * chunks;
      if (parts <= layers_ &&
          (divides_evenly(layers_, parts, false) || divides_evenly(layers_, parts, true))) {
        result.push_back(chunks);
      }
    }
    return result;
  }

  Index of_a_stage() const { return layout_.gpus / layout_.pipeline; }

  /// Returns the divisors of the experts that also divide the GPUs of a stage.
  std::vector<Index> experts() const {
    if (!run_.model.moe) {
      return {1};
    }
    std::vector<Index> result = divisors(run_.model.moe->num_experts, of_a_stage());
    std::erase_if(result, [&](Index e) { return of_a_stage() % e != 0; });
    return result;
  }

  /// Experts are whole or cut as the dense layers are.
  std::vector<Index> expert_tensors() const {
    const bool two = run_.model.moe && layout_.tensor > 1 &&
                     of_a_stage() % (layout_.expert * layout_.tensor) == 0;
    return two ? std::vector<Index>{1, layout_.tensor} : std::vector<Index>{1};
  }

  void walk_batches() {
    const Index data = layout_.data(), batch = run_.training.global_batch_size;
    for (const Index size : choices("mbs", {1, 2, 4, 8, 16})) {
      const Index at_once = size * data;
      const bool interleaves = layout_.chunks > 1;
      if (batch % at_once != 0 || (interleaves && batch / at_once % layout_.pipeline != 0)) {
        continue;
      }
      layout_.micro_batch = size;
      for (const Index full : choices("fsdp", {0, 1})) {
        /// Full sharding would gather weights for every microbatch of every stage.
        if (full == 0 || (layout_.pipeline == 1 && data > 1)) {
          layout_.sharding =
              full == 0 ? ShardingStrategy::optim : ShardingStrategy::optim_grads_params;
          found_.push_back(layout_);
        }
      }
    }
  }

  const Machine& machine_;
  const SearchSpace& space_;
  const config::RunConfig& run_;
  Index layers_;
  Layout layout_;
  std::vector<Layout> found_;
};

}  // namespace

std::vector<Layout> layouts_of(const Machine& machine, const SearchSpace& space) {
  return SpaceWalk(machine, space).walk();
}

}  // namespace mpitron::plan

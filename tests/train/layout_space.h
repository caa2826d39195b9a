#pragma once
#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "train/layout_cases.h"

// All layouts of a tiny model, by the rules that users meet: what `mpitron check` calls legal.

namespace mpitron::train {

struct GeneratedLayout {
  Index ranks;
  Flags model, layout;
};
inline void PrintTo(const GeneratedLayout& layout, std::ostream* out) {
  *out << fmt::format("{} ranks: {} {}", layout.ranks, fmt::join(layout.model, " "),
                      fmt::join(layout.layout, " "));
}

/// Walks the choices of one axis after the other; each axis sees what the axes before it chose.
class LayoutSpace {
 public:
  /// `model`: flags behind those of tiny_run.
  LayoutSpace(Flags model, Index max_ranks) : model_(std::move(model)), max_ranks_(max_ranks) {}

  /// All combinations of sizes that divide heads, layers and batches, legal or not: to read flags
  /// takes far longer than to make them up.
  std::vector<GeneratedLayout> candidates() {
    for (sizes_.tensor = 1; sizes_.tensor <= max_ranks_; sizes_.tensor *= 2) {
      for (sizes_.context = 1; sizes_.ranks() <= max_ranks_; sizes_.context *= 2) {
        for (sizes_.pipeline = 1; sizes_.ranks() <= max_ranks_; sizes_.pipeline *= 2) {
          for (sizes_.data = 1; sizes_.ranks() <= max_ranks_; sizes_.data *= 2) {
            walk(0, {});
          }
          sizes_.data = 1;
        }
        sizes_.pipeline = 1;
      }
      sizes_.context = 1;
    }
    return std::move(found_);
  }

 private:
  struct Sizes {
    Index tensor = 1, context = 1, pipeline = 1, data = 1;
    Index ranks() const { return tensor * context * pipeline * data; }
  };

  /// What may be chosen on an axis; one empty choice where the axis means nothing.
  std::vector<Flags> choices(std::size_t axis) const {
    switch (axis) {
      case 0:
        return {{"--tensor-model-parallel-size", std::to_string(sizes_.tensor),
                 "--context-parallel-size", std::to_string(sizes_.context),
                 "--pipeline-model-parallel-size", std::to_string(sizes_.pipeline)}};
      case 1:
        return sizes_.tensor > 1 ? std::vector<Flags>{{}, {"--sequence-parallel"}}
                                 : std::vector<Flags>{{}};
      case 2:
        return pipelines();
      case 3:
        return exchanges();
      case 4:
        return expert_ranks();
      case 5:
        return shardings();
      default:
        return {};
    }
  }
  std::vector<Flags> pipelines() const {
    if (sizes_.pipeline == 1) {
      return {{}};
    }
    return {{},
            {"--pipeline-schedule", "zero-bubble"},
            {"--defer-embedding-wgrad-compute", "--wgrad-deferral-limit", "2"},
            {"--num-virtual-stages-per-pipeline-rank", "2"}};
  }
  std::vector<Flags> exchanges() const {
    std::vector<Flags> all{{}};
    if (sizes_.context > 1) {
      all = {{}, {"--cp-comm-type", "all_gather"}, {"--cp-comm-type", "a2a"}};
    }
    if (sizes_.context == 4) {
      all.push_back(
          {"--cp-comm-type", "a2a+p2p", "--hierarchical-context-parallel-sizes", "2", "2"});
    }
    return all;
  }
  std::vector<Flags> expert_ranks() const {
    if (std::ranges::find(model_, "--num-experts") == model_.end()) {
      return {{}};
    }
    // Cut like other layers, spread over all ranks of a stage, and both; dispatchers take turns.
    const Index ranks = sizes_.ranks() / sizes_.pipeline;
    const std::set<std::pair<Index, Index>> choices = {
        {1, sizes_.tensor}, {ranks, 1}, {ranks / 2, 2}};
    std::vector<Flags> all;
    for (const auto& [experts, tensor] : choices) {
      const bool gathers = (experts + sizes_.tensor + sizes_.pipeline) % 2 == 0;
      all.push_back({"--expert-model-parallel-size", std::to_string(experts),
                     "--expert-tensor-parallel-size", std::to_string(tensor),
                     "--moe-token-dispatcher-type", gathers ? "allgather" : "alltoall"});
    }
    return all;
  }
  std::vector<Flags> shardings() const {
    if (sizes_.data * sizes_.context == 1) {
      return {{}};
    }
    const Flags overlap{"--overlap-grad-reduce", "--ddp-bucket-size", "500"};
    const Flags gathers{"--overlap-param-gather"}, optimizer{"--use-distributed-optimizer"};
    const Flags fully{"--use-megatron-fsdp", "--data-parallel-sharding-strategy"};
    return {{},
            overlap,
            optimizer,
            optimizer + overlap + gathers,
            optimizer + overlap + gathers + Flags{"--overlap-param-gather-with-optimizer-step"},
            optimizer + Flags{"--num-distributed-optimizer-instances", "2"},
            fully + Flags{"optim_grads"},
            fully + Flags{"optim_grads_params"},
            fully + Flags{"optim_grads_params"} + overlap + gathers,
            fully + Flags{"optim_grads_params", "--num-distributed-optimizer-instances", "2",
                          "--enable-full-sharding-in-hsdp"}};
  }

  void walk(std::size_t axis, const Flags& chosen) {
    const std::vector<Flags> next = choices(axis);
    if (next.empty()) {
      found_.push_back({sizes_.ranks(), model_, chosen});
      return;
    }
    for (const Flags& choice : next) {
      walk(axis + 1, chosen + choice);
    }
  }

  Flags model_;
  Index max_ranks_;
  Sizes sizes_;
  std::vector<GeneratedLayout> found_;
};

/// The legal layouts of a model in a random order, each once.
class LayoutDraw {
 public:
  LayoutDraw(const Flags& model, Index max_ranks, unsigned seed)
      : candidates_(LayoutSpace(model, max_ranks).candidates()) {
    std::shuffle(candidates_.begin(), candidates_.end(), std::mt19937(seed));
  }

  /// Nothing once there are no more.
  std::optional<GeneratedLayout> next() {
    while (!candidates_.empty()) {
      GeneratedLayout layout = std::move(candidates_.back());
      candidates_.pop_back();
      const Flags flags = tiny_flags(layout.model + layout.layout);
      if (config::parse_run(flags, layout.ranks).findings.empty()) {
        return layout;
      }
    }
    return {};
  }

 private:
  std::vector<GeneratedLayout> candidates_;
};

}  // namespace mpitron::train

#include "plan/memory/device_memory.h"

#include <algorithm>

#include "plan/time/layer_time.h"

// Memory of a rank by closed form, for searches that weigh thousands of layouts: state by
// parameters held, activations by what layers say they keep.

namespace mpitron::plan {
namespace {

/// Bytes of a layer and microbatch: kept until its backward pass, and needed while it runs.
struct LayerActivations {
  double kept = 0;
  double working = 0;
};

/// Returns the part of a layer's numbers that a rank has.
double share_of(const Job& job, nn::Share share) {
  switch (share) {
    case nn::Share::whole:
      return 1;
    case nn::Share::along:
      return 1 / job.along();
    case nn::Share::tensor:
      return 1 / job.tensor();
    case nn::Share::visit:
      return job.visits() * job.expert_tensor() / job.tensor();
  }
  return 1;
}

/// Adds all that half a layer saves, in 16 bits, and what of it recomputation leaves.
void add_half(const Job& job, const nn::LayerWork& work, bool dropped, LayerActivations& sum) {
  for (const nn::KeptNumbers& numbers : work.kept) {
    const double bytes = 2 * job.tokens() * numbers.count * share_of(job, numbers.share);
    sum.working += bytes;
    const bool gone = numbers.dropped_by && job.run.model.recomputes(*numbers.dropped_by);
    sum.kept += gone || dropped ? 0 : bytes;
  }
}

LayerActivations activations_of(const Job& job, const LayerKind& kind, bool recomputed) {
  LayerActivations sum;
  add_half(job, kind.mixer, recomputed, sum);
  const bool drops = recomputed || job.run.model.recomputes(kind.drops_feed_forward);
  add_half(job, kind.feed_forward, drops, sum);
  if (recomputed || drops) {
    // A layer that is recomputed keeps its input.
    sum.kept += 2 * job.tokens() * job.hidden() / job.along();
  }
  return sum;
}

/// Returns how many microbatches of a stage have activations at once, in all of its layers. 1F1B: a
/// stage runs ahead by the number of stages behind it; interleaved stages by more, counted in
/// chunks (arXiv:2104.04473, section 2.2).
double in_flight(const Job& job, Index stage) {
  const double p = job.stages(), v = job.chunks(), m = job.microbatches();
  if (p == 1) {
    return 1;
  }
  const auto i = static_cast<double>(stage);
  return v == 1 ? std::min(m, p - i) : std::min(m * v, p * v + p - 1 - 2 * i) / v;
}

Index recomputed_layers(const config::ModelConfig& model) {
  if (model.recompute_granularity != config::RecomputeGranularity::full) {
    return 0;
  }
  return model.recompute_method == config::RecomputeMethod::block ? model.recompute_num_layers
                                                                  : model.all_layers();
}

class StageCounter {
 public:
  explicit StageCounter(const Job& job) : job_(job), recomputed_(recomputed_layers(job.run.model)) {
    for (const LayerKind& kind : job.work->kinds()) {
      held_.push_back(held_parameters(job, kind));
      plain_.push_back(activations_of(job, kind, false));
      again_.push_back(activations_of(job, kind, true));
    }
  }

  RankMemory stage(const pipeline::StageLayout& layout, Index stage) {
    sum_ = {};
    kept_ = working_ = 0;
    RankMemory rank;
    for (Index chunk = 0; chunk < layout.chunks(); ++chunk) {
      const pipeline::ChunkLayers& layers = layout.layers(stage, chunk);
      add_chunk(layers);
      rank.logits += layers.has_loss ? logits() * Job::real(1 + layers.mtp_count) : 0;
    }
    add_state(rank);
    rank.activations = kept_ * in_flight(job_, stage) + working_;
    return rank;
  }

 private:
  /// Returns the bytes of the scores over the vocabulary with what the loss makes of them: an
  /// estimate for each score.
  double logits() const { return 10 * job_.tokens() * job_.vocabulary() / job_.tensor(); }

  void add_layer(Index number, Index place) {
    const std::size_t kind = job_.work->kind(number);
    const LayerActivations& a = (place < recomputed_ ? again_ : plain_)[kind];
    sum_ += held_[kind];
    kept_ += a.kept;
    working_ = std::max(working_, a.working - a.kept);
  }

  void add_chunk(const pipeline::ChunkLayers& chunk) {
    for (Index i = 0; i < chunk.count; ++i) {
      add_layer(chunk.first + i + 1, i);
    }
    for (Index i = 0; i < chunk.mtp_count * job_.work->depth_layers(); ++i) {
      add_layer(job_.work->layers() + i + 1, chunk.count + i);
    }
    const double embedding = job_.vocabulary() * job_.hidden() / job_.tensor();
    const bool both = chunk.has_embedding && chunk.has_loss;
    sum_.dense += chunk.has_embedding ? embedding : 0;
    sum_.dense += chunk.has_loss && !(both && job_.tied()) ? embedding : 0;
  }

  /// Weights in 16 bits, gradients in their type, and 12 bytes of fp32 weights and two moments;
  /// what is sharded is divided among the replicas, of experts among those of experts.
  void add_state(RankMemory& rank) const {
    const double data = job_.data() * job_.context();
    const double expert_data = std::max(1.0, job_.expert_data());
    const auto sharded = [&](config::ShardingStrategy from) {
      return job_.run.parallel.sharding_strategy >= from
                 ? sum_.dense / data + sum_.expert / expert_data
                 : sum_.dense + sum_.expert;
    };
    rank.weights = 2 * sharded(config::ShardingStrategy::optim_grads_params);
    rank.gradients = job_.gradient_bytes() * sharded(config::ShardingStrategy::optim_grads);
    rank.optimizer = 12 * sharded(config::ShardingStrategy::optim);
  }

  const Job& job_;
  Index recomputed_;
  std::vector<HeldParameters> held_;
  std::vector<LayerActivations> plain_;
  std::vector<LayerActivations> again_;
  HeldParameters sum_;
  double kept_ = 0;
  double working_ = 0;
};

}  // namespace

std::vector<RankMemory> stage_memory(const Job& job) {
  StageCounter counter(job);
  const pipeline::StageLayout layout = stage_layout(job);
  std::vector<RankMemory> result;
  for (Index stage = 0; stage < layout.stages(); ++stage) {
    result.push_back(counter.stage(layout, stage));
  }
  return result;
}

RankMemory fullest_stage(const Job& job) {
  return std::ranges::max(stage_memory(job), {}, &RankMemory::total);
}

}  // namespace mpitron::plan

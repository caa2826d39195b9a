#include "plan/memory/device_memory.h"

#include <algorithm>

#include "plan/time/layer_time.h"
#include "plan/time/step_time.h"

namespace mpitron::plan {
namespace {

/// Activations of a layer and microbatch: kept until its backward pass, and needed while it runs.
struct LayerActivations {
  double kept = 0;
  double working = 0;
};

double tokens_of(const Job& job) {
  return static_cast<double>(job.sequence) * job.layout.micro_batch / job.layout.context;
}

/// All tensors that a layer saves for its backward pass, 2 bytes each.
double saved_bytes(const Job& job, bool moe) {
  const ModelShape& m = job.model;
  const double t = job.layout.tensor, along = job.layout.sequence_parallel ? t : 1;
  const double h = m.hidden;
  const double attention_width = (2.0 * m.heads + 2.0 * m.kv_heads) * m.head_dim / t;
  double elements = 4 * h / along + attention_width;  // two norms' inputs and outputs
  const double activated = m.gated ? 3 : 2;
  if (moe) {
    elements += activated * m.shared_ffn / t + m.top_k * (2 * h + activated * m.moe_ffn) / t;
  } else {
    elements += activated * m.ffn / t;
  }
  return 2 * tokens_of(job) * elements;
}

LayerActivations layer_activations(const Job& job, bool moe) {
  const double along = job.layout.sequence_parallel ? job.layout.tensor : 1;
  const double input = 2 * tokens_of(job) * job.model.hidden / along;
  const double saved = saved_bytes(job, moe);
  switch (job.layout.recompute) {
    case Recompute::full: {
      const double share = job.layout.recomputed;
      return {share * input + (1 - share) * saved, saved};
    }
    case Recompute::selective_products:
      return {0.6 * saved, saved};
    case Recompute::none:
    case Recompute::selective:  // flash attention keeps no scores
      return {saved, saved};
  }
  return {};
}

/// Microbatches of a stage whose activations live at once, of all its layers.
double in_flight(const Job& job, Index stage) {
  const double p = job.layout.pipeline, v = job.layout.chunks;
  const double m = static_cast<double>(job.microbatches());
  if (job.layout.pipeline == 1) {
    return 1;
  }
  const double i = static_cast<double>(stage);
  return v == 1 ? std::min(m, p - i) : std::min(m * v, p * v + p - 1 - 2 * i) / v;
}

}  // namespace

std::vector<RankMemory> stage_memory(const Job& job) {
  const Layout& l = job.layout;
  const double data = static_cast<double>(l.data()) * l.context;
  const double expert_data = std::max(1.0, data * l.tensor / l.expert);
  const double embedding = static_cast<double>(job.model.vocab) * job.model.hidden / l.tensor;
  std::vector<RankMemory> result;
  Index layer = 0;
  for (const Index layers : stage_layers(job.model.layers, l.pipeline)) {
    RankMemory rank;
    const auto stage = static_cast<Index>(result.size());
    double dense = stage == 0 ? embedding : 0, expert = 0, kept = 0, working = 0;
    for (Index i = 0; i < layers; ++i, ++layer) {
      const HeldParameters held = held_parameters(job, job.model.is_moe(layer));
      const LayerActivations a = layer_activations(job, job.model.is_moe(layer));
      dense += held.dense;
      expert += held.expert;
      kept += a.kept;
      working = std::max(working, a.working - a.kept);
    }
    const bool last = stage + 1 == l.pipeline;
    dense += last && !(job.model.tied && l.pipeline == 1) ? embedding : 0;
    const auto sharded = [&](Sharding from) {
      return l.sharding >= from ? dense / data + expert / expert_data : dense + expert;
    };
    rank.weights = 2 * sharded(Sharding::full);
    rank.gradients = job.gradient_bytes * sharded(Sharding::gradients);
    rank.optimizer = 12 * sharded(Sharding::optimizer);
    rank.activations = kept * in_flight(job, stage) + working;
    rank.logits = last ? 10 * tokens_of(job) * job.model.vocab / l.tensor : 0;
    result.push_back(rank);
  }
  return result;
}

RankMemory fullest_stage(const Job& job) {
  return std::ranges::max(stage_memory(job), {}, &RankMemory::total);
}

}  // namespace mpitron::plan

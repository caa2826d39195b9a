#pragma once
#include "plan/time/layer_time.h"

namespace mpitron::plan {

/// Half a layer on a rank: its mixer or its feed-forward, and where it runs.
struct HalfLayer {
  const Machine& machine;
  const Stack& stack;
  const Job& job;
  const nn::LayerWork& work;
  bool narrow;   // its products are of fewer than 16 bits where they can be
  bool dropped;  // the backward pass begins with another forward pass

  double memory_rate() const { return machine.memory_bandwidth * machine.memory_share; }
  /// Returns whether a part of the forward pass runs again, beside what the whole layer does.
  bool again(std::optional<config::RecomputeModule> by) const {
    return !dropped && by && job.run.model.recomputes(*by);
  }
  /// Returns the rows of all experts of this rank, tokens being spread evenly.
  double visiting_rows() const {
    return job.tokens() / job.tensor() * job.visits() * job.expert_tensor();
  }
};

// Each adds one cause to what the half takes. Traffic hides behind work, and launches behind both:
// so products, scores and moved numbers come first, then traffic, and launches last.

/// Attention between its products with weights: one fused kernel, or scores written to memory.
void add_scores(const HalfLayer& half, LayerTime& result);
/// Sums and gathers among tensor ranks.
void add_tensor_traffic(const HalfLayer& half, LayerTime& result);
/// Keys and values that pass around the ring of a sequence's ranks.
void add_context_traffic(const HalfLayer& half, LayerTime& result);
/// Tokens on their way to experts and back.
void add_expert_traffic(const HalfLayer& half, LayerTime& result);
/// What the host needs beyond the device's work.
void add_launches(const HalfLayer& half, LayerTime& result);

/// Adds to a layer's time what it takes to gather its weights and to reduce their gradients.
void add_sharding(const Setting& setting, const HeldParameters& held, LayerTime& time);

}  // namespace mpitron::plan

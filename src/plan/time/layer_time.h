#pragma once
#include "plan/machine/machine.h"
#include "plan/model/job.h"

namespace mpitron::plan {

/// Seconds of a rank's work, by cause; what communication adds is what is not hidden.
struct Terms {
  double products = 0;
  double attention = 0;
  double elementwise = 0;
  double launch = 0;  // what the host's launches add, and fixed times of microbatches
  double tensor = 0;
  double context = 0;
  double expert = 0;
  double sharding = 0;  // weights gathered and gradients reduced layer by layer

  double compute() const { return products + attention + elementwise + launch; }
  double sum() const { return compute() + tensor + context + expert + sharding; }
  Terms& operator+=(const Terms& other);
  Terms operator*(double factor) const;
};

struct LayerTime {
  Terms forward;
  Terms backward;  // with what is recomputed

  Terms both() const {
    Terms sum = forward;
    return sum += backward;
  }
};

/// A job on a machine with some software: the place where layers are timed.
struct Setting {
  const Machine& machine;
  const Stack& stack;
  const Job& job;
};

/// Returns the time of one microbatch on one rank. `recomputed`: the whole layer runs again.
LayerTime layer_time(const Setting& setting, const LayerKind& kind, bool recomputed = false);
/// Returns the time of output layer and loss.
LayerTime head_time(const Setting& setting);
/// Returns the time that a depth of multi-token prediction has beside its layer: its projection and
/// its loss.
LayerTime depth_time(const Setting& setting);

/// Parameters of a layer that a rank holds before any sharding over data ranks.
struct HeldParameters {
  double dense = 0;
  double expert = 0;

  HeldParameters& operator+=(const HeldParameters& other) {
    dense += other.dense;
    expert += other.expert;
    return *this;
  }
};
/// Returns a rank's parameters of such a layer.
HeldParameters held_parameters(const Job& job, const LayerKind& kind);

}  // namespace mpitron::plan

#pragma once
#include <deque>

#include "autograd/parameter_list.h"
#include "comm/groups/parallel_groups.h"
#include "config/run_config.h"
#include "device/device.h"

namespace mpitron::train {

/// Whether the numbers of 8 bits of weights are kept over the microbatches of a step: where there
/// are several, and weights are not themselves gathered for each pass (ZeRO-3).
bool keeps_fp8_weights(const config::RunConfig& config);

/// The memory of weights' numbers of 8 bits between the microbatches of a pass: two bytes for each
/// element of a weight, for the products of both directions.
class Fp8Weights {
 public:
  /// Gives it to all weights that have such products; `keep` false: to none.
  Fp8Weights(device::Device& device, autograd::ParameterList& parameters, bool keep);

  /// Before the passes over the microbatches of a step or an evaluation, which change no weight:
  /// the first of them makes the numbers. A recorded pass makes them whenever it is replayed.
  void begin_pass();
  Index bytes() const { return bytes_; }

 private:
  std::deque<autograd::KeptFp8Weight> kept_;  // at addresses that stay
  Index bytes_ = 0;
};

/// The state of the layers of this rank whose 8-bit scales follow from earlier steps
/// (Fp8Products::Scaling::delayed). The passes of a step note the largest values; `update` brings
/// those of all ranks together that have a part of the same weight, so that scales depend on no
/// layout. Experts that nobody visits in a step keep their scales.
class Fp8Histories {
 public:
  /// Gives the parameters' histories their memory, zeros. `largest`: of a history, not the newest.
  Fp8Histories(device::Device& device, autograd::ParameterList& parameters, bool largest);

  /// Updates at the end of a step, on all ranks of the stage.
  void update(const comm::ParallelGroups& groups);

 private:
  device::Device& device_;
  bool largest_;
  tensor::Tensor rows_, amax_;  // of all parameters, experts behind; absent: there are none
  Index experts_ = 0;           // where theirs begin in amax_
};

}  // namespace mpitron::train

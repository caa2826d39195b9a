#pragma once
#include <deque>

#include "autograd/parameter_list.h"
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

}  // namespace mpitron::train

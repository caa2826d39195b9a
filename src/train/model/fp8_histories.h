#pragma once
#include "autograd/parameter_list.h"
#include "comm/groups/parallel_groups.h"
#include "device/device.h"

namespace mpitron::train {

/// The state of the layers of this rank whose 8-bit scales follow from earlier steps
/// (Fp8Products::Scaling::delayed). The passes of a step note the largest values; `update` brings
/// those of all ranks together that have a part of the same weight, so that scales depend on no
/// layout. Experts that nobody visits in a step keep their scales.
class Fp8Histories {
 public:
  /// Gives the parameters' histories their memory, zeros. `largest`: of a history, not the newest.
  Fp8Histories(device::Device& device, autograd::ParameterList& parameters, bool largest);

  /// At the end of a step, on all ranks of the stage.
  void update(const comm::ParallelGroups& groups);

 private:
  device::Device& device_;
  bool largest_;
  tensor::Tensor rows_, amax_;  // of all parameters, experts behind; absent: there are none
  Index experts_ = 0;           // where theirs begin in amax_
};

}  // namespace mpitron::train

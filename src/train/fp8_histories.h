#pragma once
#include "autograd/parameter_list.h"
#include "comm/group.h"
#include "device/device.h"

namespace mpitron::train {

/// The state of the layers of this rank whose 8-bit scales follow from earlier steps
/// (Fp8Products::Scaling::delayed). The passes of a step note the largest values; `update` brings
/// the ranks' together, so that scales depend on no layout.
class Fp8Histories {
 public:
  /// Gives the parameters' histories their memory, zeros. `largest`: of a history, not the newest.
  Fp8Histories(device::Device& device, autograd::ParameterList& parameters, bool largest);

  /// At the end of a step, on all ranks of the stage.
  void update(comm::Group& stage);

 private:
  device::Device& device_;
  bool largest_;
  tensor::Tensor rows_, amax_;  // of all parameters; absent: there are none
};

}  // namespace mpitron::train

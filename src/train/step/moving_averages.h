#pragma once
#include <vector>

#include "autograd/parameter_list.h"
#include "device/device.h"
#include "tensor/state.h"

namespace mpitron::train {

/// Parameters that keep the moving average of others (a teacher's of its student's). Those in half
/// precision have fp32 masters here: small steps of an average would be lost.
///
/// Numerical contract: kernels::MovingAverage on the masters, from values in the model's type; a
/// master is rounded once.
class MovingAverages {
 public:
  /// Every average becomes what it is the average of. All values lie here whole.
  MovingAverages(device::Device& device, autograd::ParameterList& parameters);

  /// Whether the model has no averages at all, so that updates cost nothing.
  bool empty() const { return averages_.empty(); }
  /// average = momentum average + (1 - momentum) value. All values lie here whole.
  void update(double momentum);

  /// Masters, as the optimizer's: "optimizer/fp32_param/NAME".
  void visit_masters(tensor::StateVisitor& visitor) const;
  /// After a visit has changed values or, with `masters_too`, masters.
  void state_loaded(bool masters_too);

 private:
  struct Average {
    autograd::Parameter* parameter;
    tensor::Tensor master;  // absent: the value is its own
  };

  device::Device& device_;
  std::vector<Average> averages_;
};

}  // namespace mpitron::train

// Keeps parameters at stable addresses in the order of creation, which is the order of the model's
// forward pass.
#include "autograd/parameter_list.h"

#include <algorithm>

namespace mpitron::autograd {

Parameter* ParameterList::find(std::string_view name) {
  const auto at = std::find_if(parameters_.begin(), parameters_.end(),
                               [&](const Parameter& parameter) { return parameter.name == name; });
  return at != parameters_.end() ? &*at : nullptr;
}

Index ParameterList::numel() const {
  Index sum = 0;
  for (const Parameter& parameter : parameters_) {
    sum += parameter.shape.numel();
  }
  return sum;
}

}  // namespace mpitron::autograd

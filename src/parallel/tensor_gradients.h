#pragma once
#include "autograd/parameter_list.h"
#include "comm/group.h"

namespace mpitron::parallel {

/// Completes the gradients of which each tensor parallel rank has a part (`sum_over_tensor`): one
/// sum over the group, in the order of the list. After the last backward pass of a step; every
/// parameter has its gradient then.
///
/// Numerical contract: comm/group.h, in the type of main_grad.
void sum_tensor_gradients(device::Device& device, autograd::ParameterList& parameters,
                          comm::Group& tensor);

}  // namespace mpitron::parallel

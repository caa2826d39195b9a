#pragma once
#include "kernels/host/attention/attention_problem.h"

namespace mpitron::kernels::host::attention {

/// Floats of workspace that a task needs, a multiple of 16.
template <class T>
Index backward_words(const BackwardProblem<T>& problem);

/// Task batch * g + group: dk and dv of that group, dq of its query heads. `work` is aligned to 64
/// bytes.
template <class T>
void backward_task(const BackwardProblem<T>& problem, Index task, float* work);

}  // namespace mpitron::kernels::host::attention

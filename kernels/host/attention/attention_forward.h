#pragma once
#include "kernels/host/attention/attention_problem.h"

namespace mpitron::kernels::host::attention {

/// Floats of workspace that a task needs, a multiple of 16.
template <class T>
Index forward_words(const ForwardProblem<T>& problem);

/// Task batch * n + head: that head's output and lse. `work` is aligned to 64 bytes.
template <class T>
void forward_task(const ForwardProblem<T>& problem, Index task, float* work);

}  // namespace mpitron::kernels::host::attention

#pragma once

#include "kernels/host/attention/attention_problem.h"
#include "kernels/host/attention/attention_queue.h"

namespace mpitron::kernels::host::attention {

inline constexpr float kLog2e = 1.44269504f;

/// Calls f(head size or 0, dropout) with the constants that the problem's code is compiled for:
/// sizes 64 and 128 of fp32 and bf16 are.
template <class T, class F>
void with_head_kind(const Problem<T>& problem, F&& f) {
  const auto with_size = [&](auto size) {
    if (problem.dropout.active()) {
      f(size, std::true_type{});
    } else {
      f(size, std::false_type{});
    }
  };
  if constexpr (!std::is_same_v<T, Float16>) {
    if (problem.d == 64 && problem.dv == 64) {
      return with_size(std::integral_constant<int, 64>{});
    }
    if (problem.d == 128 && problem.dv == 128) {
      return with_size(std::integral_constant<int, 128>{});
    }
  }
  with_size(std::integral_constant<int, 0>{});
}

/// Floats of workspace that a task needs, a multiple of 16.
template <class T>
Index forward_words(const ForwardProblem<T>& problem);

/// Computes task batch * n + head: that head's output and lse. `work` is aligned to 64 bytes. With
/// the `queue` that the task is from, the rows of the one behind it are asked for.
template <class T>
void forward_task(const ForwardProblem<T>& problem, Index task, float* work,
                  TaskQueue* queue = nullptr);

/// Floats of workspace that a task needs, a multiple of 16.
template <class T>
Index backward_words(const BackwardProblem<T>& problem);

/// Computes task batch * g + group: dk and dv of that group, dq of its query heads. `work` and
/// `queue` as above.
template <class T>
void backward_task(const BackwardProblem<T>& problem, Index task, float* work,
                   TaskQueue* queue = nullptr);

}  // namespace mpitron::kernels::host::attention

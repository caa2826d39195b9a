#include "kernels/attention.h"

#include <atomic>

#include "kernels/host/attention_backward.h"
#include "kernels/host/attention_forward.h"
#include "kernels/host/parallel.h"

namespace mpitron::kernels {
namespace {

using host::attention::BackwardProblem;
using host::attention::ForwardProblem;
using host::attention::Heads;
using host::attention::Problem;

/// The shape of a view of heads without the split of its heads.
Shape merged(const Shape& shape) {
  if (shape.rank() == 5) {
    return {shape[0], shape[1], shape[2] * shape[3], shape[4]};
  }
  MPITRON_CHECK(shape.rank() == 4, to_string(shape));
  return shape;
}

template <class T, class View>
auto heads_of(const View& view) {
  MPITRON_CHECK(view.stride(-1) == 1 || view.size(-1) == 1, view.stride(-1));
  auto* data = view.template as<T>();
  const bool split = view.shape.rank() == 5;
  return Heads<std::remove_pointer_t<decltype(data)>>{
      data,           view.size(0),  view.stride(0), view.stride(1), split ? view.size(3) : 1,
      view.stride(2), view.stride(3)};
}

template <class Kernel>
void check(const Kernel& kernel) {
  const Shape q = merged(kernel.q.shape), k = merged(kernel.k.shape), v = merged(kernel.v.shape);
  const Shape o = merged(kernel.o.shape), &lse = kernel.lse.shape;
  MPITRON_CHECK(k[0] == v[0] && k[1] == q[1] && v[1] == q[1] && k[2] == v[2] && k[3] == q[3],
                to_string(q), to_string(k), to_string(v));
  MPITRON_CHECK(k[2] > 0 && q[2] % k[2] == 0, q[2], k[2]);
  MPITRON_CHECK((o == Shape{q[0], q[1], q[2], v[3]}), to_string(o));
  MPITRON_CHECK((lse == Shape{q[1], q[2], q[0]}), to_string(lse));
  MPITRON_CHECK(kernel.lse.stride(2) == 1 && kernel.lse.dtype == DType::f32, kernel.lse.stride(2));
  MPITRON_CHECK(kernel.scale > 0, kernel.scale);
  MPITRON_CHECK(kernel.k.dtype == kernel.q.dtype && kernel.v.dtype == kernel.q.dtype &&
                    kernel.o.dtype == kernel.q.dtype,
                name_of(kernel.q.dtype));
  if (kernel.mask) {
    const auto& mask = kernel.mask;
    MPITRON_CHECK(mask.shape == (Shape{mask.size(0) == 1 ? 1 : q[1], q[0], k[0]}),
                  to_string(mask.shape));
    MPITRON_CHECK(mask.dtype == DType::u8 && mask.stride(2) == 1, name_of(mask.dtype));
  }
}

template <class T, class Kernel>
void fill(Problem<T>& problem, const Kernel& kernel) {
  check(kernel);
  const Shape q = merged(kernel.q.shape), v = merged(kernel.v.shape);
  problem.s = q[0];
  problem.s_kv = v[0];
  problem.b = q[1];
  problem.n = q[2];
  problem.g = v[2];
  problem.d = q[3];
  problem.dv = v[3];
  problem.q = heads_of<T>(kernel.q);
  problem.k = heads_of<T>(kernel.k);
  problem.v = heads_of<T>(kernel.v);
  problem.lse_stride_b = kernel.lse.stride(0);
  problem.lse_stride_n = kernel.lse.stride(1);
  problem.mask = kernel.mask;
  problem.causal = kernel.causal;
  problem.window = kernel.window;
  problem.scale = kernel.scale;
  problem.dropout = kernel.dropout;
}

template <class T>
ForwardProblem<T> problem_of(const AttentionForward& kernel) {
  ForwardProblem<T> problem;
  fill(problem, kernel);
  problem.o = heads_of<T>(kernel.o);
  problem.lse = kernel.lse.template as<float>();
  return problem;
}

template <class T>
BackwardProblem<T> problem_of(const AttentionBackward& kernel) {
  MPITRON_CHECK(merged(kernel.d_o.shape) == merged(kernel.o.shape) &&
                    merged(kernel.dq.shape) == merged(kernel.q.shape),
                to_string(kernel.d_o.shape), to_string(kernel.dq.shape));
  MPITRON_CHECK(merged(kernel.dk.shape) == merged(kernel.k.shape) &&
                    merged(kernel.dv.shape) == merged(kernel.v.shape),
                to_string(kernel.dk.shape), to_string(kernel.dv.shape));
  BackwardProblem<T> problem;
  fill(problem, kernel);
  problem.o = heads_of<T>(kernel.o);
  problem.d_o = heads_of<T>(kernel.d_o);
  problem.dq = heads_of<T>(kernel.dq);
  problem.dk = heads_of<T>(kernel.dk);
  problem.dv_out = heads_of<T>(kernel.dv);
  problem.lse = kernel.lse.template as<float>();
  return problem;
}

/// What it takes to be worth several threads: elements of q and k, times 8 for the arithmetic.
template <class T>
Index work_of(const Problem<T>& problem) {
  return 8 * problem.b * problem.n * (problem.s + problem.s_kv) * problem.d;
}

/// task(index, work) for every task, by as many threads as have a part of the workspace; each takes
/// the next task, so the order is open and the results may not depend on it.
template <class Task>
void run_tasks(Index tasks, Index work_units, const Out& workspace, Index words, const Task& task) {
  const Index parts = workspace.bytes() / static_cast<Index>(words * sizeof(float));
  MPITRON_CHECK(parts >= 1 || tasks == 0, workspace.bytes(), words);
  MPITRON_CHECK(reinterpret_cast<std::uintptr_t>(workspace.data) % 64 == 0, workspace.data);
  auto* const work = static_cast<float*>(workspace.data);
  std::atomic<Index> next = 0;
  const Index workers = std::min({tasks, parts, host::max_workers()});
  host::for_ranges(workers, work_units, [&](Index, Index, Index worker) {
    for (Index i = next++; i < tasks; i = next++) {
      task(i, work + worker * words);
    }
  });
}

}  // namespace

void run(device::HostStream&, const AttentionForward& kernel) {
  visit_dtype(kernel.q.dtype, [&]<class T>() {
    const auto problem = problem_of<T>(kernel);
    run_tasks(problem.b * problem.n, work_of(problem), kernel.workspace, forward_words(problem),
              [&](Index task, float* work) { forward_task(problem, task, work); });
  });
}

void run(device::HostStream&, const AttentionBackward& kernel) {
  visit_dtype(kernel.q.dtype, [&]<class T>() {
    const auto problem = problem_of<T>(kernel);
    run_tasks(problem.b * problem.g, work_of(problem), kernel.workspace, backward_words(problem),
              [&](Index task, float* work) { backward_task(problem, task, work); });
  });
}

Index workspace_bytes(const device::HostStream&, const AttentionForward& kernel) {
  return visit_dtype(kernel.q.dtype, [&]<class T>() {
    const auto problem = problem_of<T>(kernel);
    return std::min(problem.b * problem.n, host::max_workers()) * forward_words(problem) * 4;
  });
}

Index workspace_bytes(const device::HostStream&, const AttentionBackward& kernel) {
  return visit_dtype(kernel.q.dtype, [&]<class T>() {
    const auto problem = problem_of<T>(kernel);
    return std::min(problem.b * problem.g, host::max_workers()) * backward_words(problem) * 4;
  });
}

}  // namespace mpitron::kernels

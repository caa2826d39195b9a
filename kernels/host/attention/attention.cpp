// Shares the heads of an attention out over threads: forward by head, backward by key/value head
// with all of its query heads, so that no sum has two writers. Tasks may differ in length
// (padding), so each thread takes the next one.
#include "kernels/attention/attention.h"

#include <atomic>

#include "kernels/host/attention/attention_heads.h"
#include "kernels/host/common/parallel.h"

namespace mpitron::kernels {
namespace {

using host::attention::Problem;
using host::attention::problem_of;
using host::attention::TaskQueue;

/// Estimates the work, in elements of q and k, times 8 for the arithmetic; small problems stay on
/// one thread.
template <class T>
Index work_of(const Problem<T>& problem) {
  return 8 * problem.b * problem.n * (problem.s + problem.s_kv) * problem.d;
}

/// Calls task(index, work, queue) for every task, by as many threads as have a part of the
/// workspace; each takes the next task, so the order is open and the results may not depend on it.
template <class Task>
void run_tasks(Index tasks, Index work_units, const Out& workspace, Index words, const Task& task) {
  const Index parts = workspace.bytes() / static_cast<Index>(words * sizeof(float));
  MPITRON_CHECK(parts >= 1 || tasks == 0, workspace.bytes(), words);
  MPITRON_CHECK(reinterpret_cast<std::uintptr_t>(workspace.data) % 64 == 0, workspace.data);
  auto* const work = static_cast<float*>(workspace.data);
  std::atomic<Index> next = 0;
  const Index workers = std::min({tasks, parts, host::max_workers()});
  host::for_ranges(workers, work_units, [&](Index, Index, Index worker) {
    TaskQueue queue(next, tasks);
    for (Index i = queue.take(); i != TaskQueue::kNone; i = queue.take()) {
      task(i, work + worker * words, &queue);
    }
  });
}

}  // namespace

void run(device::HostStream&, const AttentionForward& kernel) {
  visit_dtype(kernel.q.dtype, [&]<class T>() {
    const auto problem = problem_of<T>(kernel);
    run_tasks(problem.b * problem.n, work_of(problem), kernel.workspace, forward_words(problem),
              [&](auto... task) { forward_task(problem, task...); });
  });
}

void run(device::HostStream&, const AttentionBackward& kernel) {
  visit_dtype(kernel.q.dtype, [&]<class T>() {
    const auto problem = problem_of<T>(kernel);
    run_tasks(problem.b * problem.g, work_of(problem), kernel.workspace, backward_words(problem),
              [&](auto... task) { backward_task(problem, task...); });
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

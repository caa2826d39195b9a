// Runs loops on threads by Kokkos, with static ranges that depend on the number of threads: kernels
// must not let their bits depend on where a range ends.
#include "kernels/host/common/parallel.h"

#include <Kokkos_Core.hpp>

namespace mpitron::kernels::host {

using Space = Kokkos::DefaultHostExecutionSpace;

Index max_workers() {
  return Space::concurrency();
}

void run_ranges(Index count, Index work, RangeBody body) {
  const Index workers = std::min({max_workers(), count, work / kInlineWork});
  if (workers <= 1) {
    body(0, count, 0);
    return;
  }
  using Policy =
      Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<Index>>;
  Kokkos::parallel_for("mpitron", Policy(0, workers), [=](Index worker) {
    body(count * worker / workers, count * (worker + 1) / workers, worker);
  });
}

}  // namespace mpitron::kernels::host

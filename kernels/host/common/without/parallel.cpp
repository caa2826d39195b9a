#include "kernels/host/common/parallel.h"

#include <omp.h>

namespace mpitron::kernels::host {

Index max_workers() {
  return omp_get_max_threads();
}

void run_ranges(Index count, Index work, RangeBody body) {
  const Index workers = std::min({max_workers(), count, work / kInlineWork});
  if (workers <= 1) {
    body(0, count, 0);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(static_cast <int>(workers))
  for (Index worker = 0; worker < workers; ++worker) {
    body(count * worker / workers, count * (worker + 1) / workers, worker);
  }
}

}  // namespace mpitron::kernels::host

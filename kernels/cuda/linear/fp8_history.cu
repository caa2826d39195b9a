// Numerical contract: that of kernels/linear/fp8_history.h.
#include "kernels/cuda/common/vector.cuh"
#include "kernels/linear/fp8_history.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// A few numbers: a thread for a row.
__global__ void advance_histories(float* rows, float* amax, Index count, Index size, bool largest) {
  const Worker worker = thread_of_grid();
  for (Index row = worker.index; row < count; row += worker.count) {
    advance_fp8_history(rows + row * size, size, amax[row], largest);
  }
}

}  // namespace

void run(device::CudaStream& stream, const Fp8HistoryUpdate& k) {
  const Index count = k.rows.size(0);
  launch(stream, k.name, {blocks_for(count, kThreads), kThreads}, advance_histories,
         k.rows.as<float>(), k.amax.as<float>(), count, k.rows.size(1), k.largest);
}

}  // namespace mpitron::kernels

// Numerical contract: that of kernels/elementwise/stored_numbers.h.
#include "kernels/cuda/common/stored_numbers.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;

__global__ void copy_stored(const __grid_constant__ StoredArray x,
                            const __grid_constant__ StoredArray y, Index n) {
  for_stored_packs(n, thread_of_grid(),
                   [&](Index i, int count) { y.store(i, count, x.load(i, count)); });
}

}  // namespace

void run(device::CudaStream& stream, const ReadStored& k) {
  const Index n = k.x.numel();
  launch(stream, k.name, flat_shape(n), copy_stored, StoredArray(k.x), StoredArray(In(k.y)), n);
}

void run(device::CudaStream& stream, const WriteStored& k) {
  const Index n = k.y.numel();
  launch(stream, k.name, flat_shape(n), copy_stored, StoredArray(k.x), StoredArray(k.y), n);
}

}  // namespace mpitron::kernels

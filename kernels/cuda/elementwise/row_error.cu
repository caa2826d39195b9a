// Numerical contract: that of kernels/elementwise/row_error.h. One block passes over a row; threads
// keep a sum of their own, joined in a fixed order.
#include "kernels/cuda/common/element.cuh"
#include "kernels/cuda/common/launch.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/common/vector.cuh"
#include "kernels/elementwise/row_error.h"
#include "kernels/elementwise/rows.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// The difference of a row and its target, in fp32.
template <class T, class U>
struct Difference {
  const T* x;
  const U* target;
  Index rows, h;

  __device__ float operator()(Index i) const {
    return static_cast<float>(x[i]) - static_cast<float>(target[i]);
  }
};

/// error[row] = factor * sum of squares; a block to a row.
template <class T, class U>
__global__ void errors(Difference<T, U> difference, float factor, float* error) {
  __shared__ float partial[kMostWarps];
  const Index row = blockIdx.x;
  float sum = 0;
  for (Index i = threadIdx.x; i < difference.h; i += blockDim.x) {
    const float d = difference(row * difference.h + i);
    sum += d * d;
  }
  const float total = block_sum(sum, partial);
  if (threadIdx.x == 0) {
    error[row] = factor * total;
  }
}

/// dx = 2 factor (x - target) derror[row].
template <class T, class U>
__global__ void gradients(Difference<T, U> difference, float factor, const float* derror, T* dx) {
  const Index row = blockIdx.x;
  const float scale = 2 * factor * derror[row];
  for (Index i = threadIdx.x; i < difference.h; i += blockDim.x) {
    dx[row * difference.h + i] = static_cast<T>(scale * difference(row * difference.h + i));
  }
}

/// Finds the largest logit by one thread a row: classifiers have few classes beside what made their
/// logits.
template <class T>
__global__ void find_matches(const T* logits, const std::int64_t* labels, float* matches,
                             Index rows, Index v) {
  const Index row = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows) {
    return;
  }
  Index largest = 0;
  for (Index i = 1; i < v; ++i) {
    const float value = static_cast<float>(logits[row * v + i]);
    largest = value > static_cast<float>(logits[row * v + largest]) ? i : largest;
  }
  matches[row] = largest == labels[row] ? 1.f : 0.f;
}

/// Calls f(difference) for the types of x and target.
template <class F>
void visit_types(const device::In& x, const device::In& target, F&& f) {
  MPITRON_CHECK(x.contiguous() && target.contiguous());
  visit_elements(x.dtype, target.dtype, [&]<class T, class U>() {
    f(Difference<T, U>{elements<T>(x), elements<U>(target), row_count(x), x.size(-1)});
  });
}

LaunchShape block_a_row(Index rows) {
  return {dim3(static_cast<unsigned>(rows)), dim3(kThreads)};
}

}  // namespace

void run(device::CudaStream& stream, const RowErrorForward& k) {
  visit_types(k.x, k.target, [&]<class T, class U>(const Difference<T, U>& difference) {
    launch(stream, k.name, block_a_row(difference.rows), errors<T, U>, difference, k.factor,
           k.error.as<float>());
  });
}

void run(device::CudaStream& stream, const RowErrorBackward& k) {
  visit_types(k.x, k.target, [&]<class T, class U>(const Difference<T, U>& difference) {
    launch(stream, k.name, block_a_row(difference.rows), gradients<T, U>, difference, k.factor,
           k.derror.as<float>(), elements<T>(k.dx));
  });
}

void run(device::CudaStream& stream, const LabelMatches& k) {
  visit_element(k.logits.dtype, [&]<class T>() {
    const Index rows = row_count(k.logits);
    const auto blocks = static_cast<unsigned>((rows + kThreads - 1) / kThreads);
    launch(stream, k.name, {dim3(blocks), dim3(kThreads)}, find_matches<T>, elements<T>(k.logits),
           k.labels.as<std::int64_t>(), k.matches.as<float>(), rows, k.logits.size(-1));
  });
}

}  // namespace mpitron::kernels

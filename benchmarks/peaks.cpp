#include "benchmarks/peaks.h"

#include "kernels/host/common/fetch_ahead.h"
#include "kernels/host/common/simd.h"
#include "kernels/host/state_space/silu.h"

namespace mpitron::benchmarks {

namespace simd = kernels::simd;

void stream_copy(const float* from, float* to, Index count) {
  for (Index i = 0; i < count; i += simd::kLanes) {
    simd::stream(to + i, simd::load(from + i));
  }
  simd::stream_fence();
}

float sum_of(const float* x, Index count) {
  constexpr Index kSums = 4;  // hide the latency of an addition; more load instructions read slower
  simd::Float sums[kSums] = {};
  for (Index i = 0; i < count; i += kSums * simd::kLanes) {
#pragma GCC unroll 4
    for (Index j = 0; j < kSums; ++j) {
      kernels::host::fetch_ahead(x + i + j * simd::kLanes);
      sums[j] += simd::load(x + i + j * simd::kLanes);
    }
  }
  float total = 0;
  for (const simd::Float& sum : sums) {
    for (int lane = 0; lane < simd::kLanes; ++lane) {
      total += sum[lane];
    }
  }
  return total;
}

namespace {
template <class T>
void silus_of(const T* x, T* y, Index count) {
  namespace host = kernels::host;
  host::for_several<T>(
      count, [&](Index i, auto lanes) __attribute__((always_inline)) {
        host::write(host::PlainStore{}, y + i, host::silu<T>(host::read(x + i, lanes)).value,
                    lanes);
      });
}
}  // namespace

void silus(const float* x, float* y, Index count) {
  silus_of(x, y, count);
}

void silus(const BFloat16* x, BFloat16* y, Index count) {
  silus_of(x, y, count);
}

void multiply_add_rounds(Index rounds) {
  simd::Float chains[12];
  for (int i = 0; i < 12; ++i) {
    chains[i] = simd::splat(static_cast<float>(i));
  }
  const simd::Float factor = simd::splat(0.999f);
  for (Index round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (simd::Float& chain : chains) {
      chain = simd::fma(chain, factor, factor);
    }
  }
  // The result has to be seen by somebody, or the loop is dropped.
  for (simd::Float& chain : chains) {
    asm volatile("" : : "vm"(chain));
  }
}

}  // namespace mpitron::benchmarks

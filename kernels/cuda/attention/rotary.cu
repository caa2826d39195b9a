// Numerical contract: that of rotary.h. A thread turns as many neighbouring pairs as a pack
// has elements.
#include "kernels/attention/rotary.h"
#include "kernels/cuda/common/vector.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// cos and sin of every position, and the rows of x that stand at one position.
template <class T>
struct Turns {
  Rows<const T> cos, sin;
  Index rows_a_position;
  float sign;
};

/// Turns packs of pairs in place, so each thread reads both halves of its pairs before it writes.
template <class T, bool kInterleaved>
__global__ void rotate(const __grid_constant__ Rows<T> x, const __grid_constant__ Turns<T> turns,
                       Index rows, Index r, bool packed) {
  for_rows(rows, r, packed, [&](Index row, Index i, auto width) {
    constexpr int kPairs = width;
    const Index position = quotient(row, turns.rows_a_position);
    const auto cos = load(turns.cos[position] + i, width);
    const auto sin = load(turns.sin[position] + i, width);
    T* const left = x[row] + (kInterleaved ? 2 * i : i);
    T* const right = left + (kInterleaved ? kPairs : r);
    Floats<kPairs> both[2] = {load(left, width), load(right, width)};
    for (int j = 0; j < kPairs; ++j) {
      const int first = kInterleaved ? 2 * j : j, second = kInterleaved ? 2 * j + 1 : kPairs + j;
      float& a = both[first / kPairs][first % kPairs];
      float& b = both[second / kPairs][second % kPairs];
      const float s = sin[j] * turns.sign, turned = a * cos[j] - b * s;
      b = b * cos[j] + a * s;
      a = turned;
    }
    store(left, both[0]);
    store(right, both[1]);
  });
}

}  // namespace

void run(device::CudaStream& stream, const RotaryEmbedding& k) {
  const Index r = k.cos.size(-1), rows = row_count(k.x);
  MPITRON_CHECK(2 * r <= k.x.size(-1), r, k.x.size(-1));
  MPITRON_CHECK(k.cos.size(0) == k.x.size(0), k.cos.size(0), k.x.size(0));
  visit_element(k.x.dtype, [&]<class T>() {
    const Rows<T> x = rows_of<T>(k.x);
    const Turns<T> turns{rows_of<T>(k.cos), rows_of<T>(k.sin),
                         rows / std::max<Index>(1, k.x.size(0)), k.inverse ? -1.f : 1.f};
    const bool packed = r % kPack == 0 && all_packed(x, turns.cos, turns.sin);
    launch(stream, RotaryEmbedding::name, row_shape(rows, r),
           k.interleaved ? rotate<T, true> : rotate<T, false>, x, turns, rows, r, packed);
  });
}

}  // namespace mpitron::kernels

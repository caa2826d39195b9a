// Numerical contract: that of rotary.h. A thread turns as many neighbouring pairs as a pack
// has elements, of one row or of four.
#include "kernels/attention/rotary.h"
#include "kernels/cuda/common/vector.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// Neighbouring rows, of one position, that a thread turns where there are as many: their loads are
/// on their way at once, and the angles are loaded for all of them.
constexpr int kRowsTogether = 4;

/// cos and sin of every position, and the groups of rows of x that stand at one position.
template <class T>
struct Turns {
  Rows<const T> cos, sin;
  Index groups_a_position;
  Index stride;  // from one row of a group to the next
  float sign;
};

/// Turns one pair of packs.
template <bool kInterleaved, int kPairs>
__device__ void turn(Floats<kPairs> (&both)[2], const Floats<kPairs>& cos,
                     const Floats<kPairs>& sin, float sign) {
  for (int j = 0; j < kPairs; ++j) {
    const int first = kInterleaved ? 2 * j : j, second = kInterleaved ? 2 * j + 1 : kPairs + j;
    float& a = both[first / kPairs][first % kPairs];
    float& b = both[second / kPairs][second % kPairs];
    const float s = sin[j] * sign, turned = a * cos[j] - b * s;
    b = b * cos[j] + a * s;
    a = turned;
  }
}

/// Turns packs of pairs in place, so each thread reads both halves of its pairs before it writes.
template <class T, bool kInterleaved, int kRows>
__global__ void rotate(const __grid_constant__ Rows<T> x, const __grid_constant__ Turns<T> turns,
                       Index groups, Index r, bool packed) {
  for_rows(groups, r, packed, [&](Index group, Index i, auto width) {
    constexpr int kPairs = width;
    T* const left = x[group * kRows] + (kInterleaved ? 2 * i : i);
    T* const right = left + (kInterleaved ? kPairs : r);
    Raw<T, kPairs> raw[kRows][2];
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      raw[k][0] = load_raw(left + k * turns.stride, width);
      raw[k][1] = load_raw(right + k * turns.stride, width);
    }
    const Index position = quotient(group, turns.groups_a_position);
    const auto cos = load(turns.cos[position] + i, width);
    const auto sin = load(turns.sin[position] + i, width);
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      Floats<kPairs> both[2] = {floats(raw[k][0]), floats(raw[k][1])};
      turn<kInterleaved>(both, cos, sin, turns.sign);
      store(left + k * turns.stride, both[0]);
      store(right + k * turns.stride, both[1]);
    }
  });
}

template <class T, int kRows>
void rotate_rows(device::CudaStream& stream, const RotaryEmbedding& k) {
  const Index r = k.cos.size(-1), groups = row_count(k.x) / kRows;
  const Rows<T> x = rows_of<T>(k.x);
  const Turns<T> turns{rows_of<T>(k.cos), rows_of<T>(k.sin),
                       groups / std::max<Index>(1, k.x.size(0)), kRows > 1 ? k.x.stride(-2) : 0,
                       k.inverse ? -1.f : 1.f};
  const bool packed = r % kPack == 0 && all_packed(x, turns.cos, turns.sin);
  launch(stream, RotaryEmbedding::name, row_shape(groups, r),
         k.interleaved ? rotate<T, true, kRows> : rotate<T, false, kRows>, x, turns, groups, r,
         packed);
}

}  // namespace

void run(device::CudaStream& stream, const RotaryEmbedding& k) {
  MPITRON_CHECK(2 * k.cos.size(-1) <= k.x.size(-1), k.cos.size(-1), k.x.size(-1));
  MPITRON_CHECK(k.cos.size(0) == k.x.size(0), k.cos.size(0), k.x.size(0));
  const bool grouped = k.x.shape.rank() > 2 && k.x.size(-2) % kRowsTogether == 0;
  visit_element(k.x.dtype, [&]<class T>() {
    grouped ? rotate_rows<T, kRowsTogether>(stream, k) : rotate_rows<T, 1>(stream, k);
  });
}

}  // namespace mpitron::kernels

#pragma once
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/linear/packed_matmul.h"

// Rows of x as the matrix units of a GPU take them, rounded to 8 bits. Eight rows are a tile; 32 of
// their inputs are a step, 256 bytes, of which lane 4 r + p of a warp reads eight: inputs
// [4 p, 4 p + 4) and [16 + 4 p, 16 + 4 p + 4) of row r. Behind all steps lie the scales of groups.

namespace mpitron::kernels::cuda {

inline constexpr int kTileRows = 8, kStepInputs = 32;
inline constexpr Index kStepBytes = kTileRows * kStepInputs;
/// Inputs that a warp rounds at once, and that a product takes as a whole.
inline constexpr Index kUnitInputs = 256;

/// What a group of a row's inputs is multiplied with, and the weights' shift times the sum of the
/// group, negative, which takes that shift out of the group's sum.
struct GroupOfRow {
  float scale;
  int shift;
};

/// Rows [heads, m, k] in a workspace.
struct RoundedRows {
  std::uint8_t* data;  // [heads, tiles, steps, 256]
  GroupOfRow* groups;  // [heads, tiles, groups, 8]
  Index tiles, steps, groups_a_row;

  RoundedRows(void* workspace, const PackedMatmul& kernel)
      : data(static_cast<std::uint8_t*>(workspace)),
        tiles((kernel.x.size(0) + kTileRows - 1) / kTileRows),
        steps(packed_inputs(kernel.format, kernel.inputs()) / kStepInputs),
        groups_a_row((kernel.inputs() + facts(kernel.format).group - 1) /
                     facts(kernel.format).group) {
    groups = reinterpret_cast<GroupOfRow*>(data + kernel.heads() * tiles * steps * kStepBytes);
  }
  Index bytes(Index heads) const {
    return heads * tiles *
           (steps * kStepBytes + groups_a_row * kTileRows * static_cast<Index>(sizeof(GroupOfRow)));
  }
};

template <class T>
struct Rounding {
  Rows<const T> x;  // [m, heads, k]
  bool packed;      // x may be read in words
  Index m, heads, k;
  int shift, lanes;  // lanes that have the inputs of a group
  RoundedRows to;
};

/// A warp rounds 256 inputs of a row, a lane eight neighbours; rows and inputs that only fill up
/// are zero.
template <class T>
__global__ void round_rows(const __grid_constant__ Rounding<T> a) {
  const Index units = (a.k + kUnitInputs - 1) / kUnitInputs;
  const Index rows = a.to.tiles * kTileRows, all = a.heads * rows * units;
  const Index warps = static_cast<Index>(gridDim.x) * (blockDim.x / kWarp);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (Index i = static_cast<Index>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
       i < all; i += warps) {
    const Index unit = quotient(i, rows * a.heads), of_unit = i - unit * rows * a.heads;
    const Index head = quotient(of_unit, rows), row = of_unit - head * rows;
    const Index first = unit * kUnitInputs + lane * kPack;
    const Index left = row < a.m ? a.k - first : 0;
    Floats<kPack> x{};
    if (left > 0) {
      x = floats(load_some(a.x[row * a.heads + head] + first, left, a.packed));
    }
    float largest = 0;
    for (int j = 0; j < kPack; ++j) {
      largest = fmaxf(largest, fabsf(x[j]));
    }
    const float scale = warp_reduce(largest, Largest{}, a.lanes) / 127.F;
    const float reciprocal = reciprocal_of(scale);
    std::uint32_t words[2] = {};
    int sum = 0;
    for (int j = 0; j < kPack; ++j) {
      const int q = static_cast<int>(fminf(fmaxf(rintf(x[j] * reciprocal), -127.F), 127.F));
      sum += q;
      words[j / 4] |= (static_cast<std::uint32_t>(q) & 255u) << 8 * (j % 4);
    }
    sum = warp_reduce(sum, Sum{}, a.lanes);
    const Index tile = head * a.to.tiles + row / kTileRows, of_tile = row % kTileRows;
    if (first < a.to.steps * kStepInputs) {
      const Index step = first / kStepInputs, quad = first % kStepInputs / 4;
      auto* const to =
          reinterpret_cast<std::uint32_t*>(a.to.data + (tile * a.to.steps + step) * kStepBytes);
      for (int j = 0; j < 2; ++j) {
        to[(of_tile * 4 + (quad + j) % 4) * 2 + (quad + j) / 4] = words[j];
      }
      if (lane % a.lanes == 0) {
        const Index group = first / (a.lanes * kPack);
        if (group < a.to.groups_a_row) {
          a.to.groups[(tile * a.to.groups_a_row + group) * kTileRows + of_tile] = {scale,
                                                                                   -a.shift * sum};
        }
      }
    }
  }
}

}  // namespace mpitron::kernels::cuda

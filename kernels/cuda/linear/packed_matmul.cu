// Multiplies rows by a weight of 8 or 4 bits that stays packed in the device's memory (generation).
//
// Numerical contract: that of packed_matmul.h. Sums of a group of inputs are exact integers, which
// the matrix units add; they are multiplied by both scales and added in fp32 in rising order. A
// block of threads has 32 features; its warps take slices of the inputs, 256 at a time, cut by k
// alone, and their sums are added in rising order. So a row's bits depend neither on the other rows
// nor on how many of them share a pass.
//
// A pass over the weights serves up to 32 rows: each weight is read once, 16 bytes a lane, whole
// lines a warp, and becomes an operand of the matrix units in registers.
#include "kernels/cuda/common/any_elements.cuh"
#include "kernels/cuda/linear/packed_rows.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;

constexpr int kMostSlices = 16, kPairFeatures = 2 * kPackedColumns;
constexpr int kUnitSteps = static_cast<int>(kUnitInputs / kStepInputs);

struct PackedProduct {
  RoundedRows x;
  const std::uint8_t* packed;
  Index blocks, block_bytes, weight_bytes;
  Index m, n, units;
  AnyInput bias;  // no data: none
  AnyOutput y;
  Index y_row, y_head;  // strides
};

/// Weights of 8 bits: a step has eight rows of four inputs. Lane 4 r + p has, of its four
/// features, the inputs that it has of x.
struct EightBitSteps {
  static constexpr int kGroupSteps = kUnitSteps, kWords = 2, kAhead = 2;
  static constexpr Index kBytes = 32 * kPackedColumns;

  static __device__ void load_step(const std::uint8_t* step, uint4 (&words)[kWords]) {
    words[0] = __ldcs(reinterpret_cast<const uint4*>(step));
    words[1] = __ldcs(reinterpret_cast<const uint4*>(step + kBytes / 2));
  }
  /// Operand of two features: their inputs [4 p, 4 p + 4), and those 16 further on.
  static __device__ void operands(const uint4 (&w)[kWords], std::uint32_t (&a)[2][4]) {
    a[0][0] = w[0].x, a[0][1] = w[0].y, a[0][2] = w[1].x, a[0][3] = w[1].y;
    a[1][0] = w[0].z, a[1][1] = w[0].w, a[1][2] = w[1].z, a[1][3] = w[1].w;
  }
  static __device__ Floats<4> scales(const std::uint8_t* /*group*/) { return {1, 1, 1, 1}; }
};

/// Weights of 4 bits: a byte has two inputs, sixteen apart, as the matrix units want them.
struct FourBitSteps {
  static constexpr int kGroupSteps = 1, kWords = 1, kAhead = 4;
  static constexpr Index kBytes = 16 * kPackedColumns;

  static __device__ void load_step(const std::uint8_t* step, uint4 (&words)[kWords]) {
    words[0] = __ldcs(reinterpret_cast<const uint4*>(step));
  }
  static __device__ void operands(const uint4 (&w)[kWords], std::uint32_t (&a)[2][4]) {
    constexpr std::uint32_t kLow = 0x0f0f0f0fu;
    a[0][0] = w[0].x & kLow, a[0][1] = w[0].y & kLow;
    a[0][2] = w[0].x >> 4 & kLow, a[0][3] = w[0].y >> 4 & kLow;
    a[1][0] = w[0].z & kLow, a[1][1] = w[0].w & kLow;
    a[1][2] = w[0].z >> 4 & kLow, a[1][3] = w[0].w >> 4 & kLow;
  }
  static __device__ Floats<4> scales(const std::uint8_t* group) {
    return load(reinterpret_cast<const __half*>(group), Width<4>());
  }
};

/// A warp's sums over its slice: of four features and two rows for each tile in a lane.
template <class Steps, int T>
class SliceProduct {
  /// Steps whose loads are on their way together: many rows hide them by their work, and need the
  /// registers.
  static constexpr int kAhead = T > 2 ? 2 : Steps::kAhead;

 public:
  __device__ SliceProduct(const PackedProduct& a, Index first_tile, int slices)
      : lane_(static_cast<int>(threadIdx.x) % kWarp),
        tiles_(static_cast<int>(min(Index{T}, a.x.tiles - first_tile))) {
    const Index head = blockIdx.z, tile = head * a.x.tiles + first_tile;
    const Index block = 2 * static_cast<Index>(blockIdx.x) + lane_ / 16;
    const int quad = lane_ / 4 % 4;
    there_ = block < a.blocks;
    const std::uint8_t* from = a.packed + (head * a.blocks + (there_ ? block : 0)) * a.block_bytes;
    weights_ = from + lane_ % 4 * (4 * kPackedColumns) + quad * 16;
    scales_ = from + a.weight_bytes + quad * 4 * static_cast<int>(sizeof(__half));
    x_ = a.x.data + tile * a.x.steps * kStepBytes + lane_ * 8;
    groups_ = a.x.groups + tile * a.x.groups_a_row * kTileRows + lane_ % 4 * 2;
    tile_bytes_ = a.x.steps * kStepBytes;
    tile_groups_ = a.x.groups_a_row * kTileRows;
    steps_ = static_cast<int>(a.x.steps);
    const int warp = static_cast<int>(threadIdx.x) / kWarp, units = static_cast<int>(a.units);
    const int begin = units * warp / slices, end = units * (warp + 1) / slices;
    for (int step = begin * kUnitSteps; step < min(end * kUnitSteps, steps_); step += kAhead) {
      add_steps(step);
    }
  }
  /// Sum of feature `feature` of the lane's four and the lane's row `row` of two.
  __device__ float sum(int tile, int feature, int row) const { return sums_[tile][feature][row]; }

 private:
  /// Loads some steps, then multiplies them: their loads are on their way together.
  __device__ void add_steps(int step) {
    uint4 words[kAhead][Steps::kWords];
    uint2 x[kAhead][T];
#pragma unroll
    for (int s = 0; s < kAhead; ++s) {
      const bool inside = step + s < steps_;
      if (inside && there_) {
        Steps::load_step(weights_ + (step + s) * Steps::kBytes, words[s]);
      } else {
        for (uint4& word : words[s]) {
          word = {};
        }
      }
#pragma unroll
      for (int t = 0; t < T; ++t) {
        x[s][t] =
            inside && t < tiles_
                ? *reinterpret_cast<const uint2*>(x_ + t * tile_bytes_ + (step + s) * kStepBytes)
                : uint2{};
      }
    }
#pragma unroll
    for (int s = 0; s < kAhead; ++s) {
      if (step + s < steps_) {
        add_step(step + s, words[s], x[s], step + s + 1 == steps_);
      }
    }
  }
  __device__ void add_step(int step, const uint4 (&words)[Steps::kWords], const uint2 (&x)[T],
                           bool last) {
    const int group = step / Steps::kGroupSteps;
    const bool begins = step % Steps::kGroupSteps == 0;
    const bool ends = last || (step + 1) % Steps::kGroupSteps == 0;
    std::uint32_t a[2][4];
    Steps::operands(words, a);
    Floats<4> of_weights{};
    if (ends && there_) {
      of_weights = Steps::scales(scales_ + group * (2 * kPackedColumns));
    }
#pragma unroll
    for (int t = 0; t < T; ++t) {
      if (t >= tiles_) {
        continue;  // the same for all lanes
      }
      const GroupOfRow* const rows = groups_ + t * tile_groups_ + group * kTileRows;
      if (begins) {
        begin_group(t, rows);
      }
      const std::uint32_t b[2] = {x[t].x, x[t].y};
      multiply_u8_s8(dots_[t][0], a[0], b);
      multiply_u8_s8(dots_[t][1], a[1], b);
      if (ends) {
        end_group(t, rows, of_weights);
      }
    }
  }
  __device__ void begin_group(int t, const GroupOfRow* rows) {
    for (int i = 0; i < 4; ++i) {
      dots_[t][0][i] = dots_[t][1][i] = rows[i % 2].shift;
    }
  }
  __device__ void end_group(int t, const GroupOfRow* rows, const Floats<4>& of_weights) {
    for (int row = 0; row < 2; ++row) {
      const float scale = rows[row].scale;
      for (int feature = 0; feature < 4; ++feature) {
        const int dot = dots_[t][feature / 2][feature % 2 * 2 + row];
        float& sum = sums_[t][feature][row];
        sum = fmaf(static_cast<float>(dot), __fmul_rn(of_weights[feature], scale), sum);
      }
    }
  }

  int lane_, tiles_, steps_;
  bool there_;
  const std::uint8_t *weights_, *scales_, *x_;
  const GroupOfRow* groups_;
  Index tile_bytes_, tile_groups_;
  int dots_[T][2][4];  // of a group: [tile][pair of features][feature, row]
  float sums_[T][4][2] = {};
};

/// The sums of all slices of a tile, with room behind each row so that lanes meet no banks twice.
using SliceSums = float[kMostSlices][kTileRows][kPairFeatures + 4];

/// Adds the slices' sums in rising order, and writes a tile's rows of 32 features.
template <class Steps>
__device__ void store_tile(const PackedProduct& a, const SliceSums& sums, Index tile, int slices) {
  for (int i = static_cast<int>(threadIdx.x); i < kTileRows * kPairFeatures;
       i += static_cast<int>(blockDim.x)) {
    const int of_tile = i / kPairFeatures, of_pair = i % kPairFeatures;
    const Index row = tile * kTileRows + of_tile;
    const Index feature = static_cast<Index>(blockIdx.x) * kPairFeatures + of_pair;
    if (row >= a.m || feature >= a.n) {
      continue;
    }
    float sum = sums[0][of_tile][of_pair];
    for (int slice = 1; slice < slices; ++slice) {
      sum += sums[slice][of_tile][of_pair];
    }
    const Index head = blockIdx.z;
    if constexpr (std::is_same_v<Steps, EightBitSteps>) {
      const auto* scales = reinterpret_cast<const float*>(
          a.packed + (head * a.blocks + feature / kPackedColumns) * a.block_bytes + a.weight_bytes);
      sum = __fmul_rn(sum, scales[feature % kPackedColumns]);
    }
    if (a.bias.data != nullptr) {
      sum += load(a.bias + feature, Width<1>())[0];
    }
    store(a.y + (row * a.y_row + head * a.y_head + feature), Floats<1>{sum});
  }
}

template <class Steps, int T>
__global__ void __launch_bounds__(kMostSlices* kWarp, T == 1 ? 2 : 1)
    packed_product(const __grid_constant__ PackedProduct a) {
  __shared__ SliceSums sums;
  const int slices = static_cast<int>(blockDim.x) / kWarp;
  const Index first_tile = static_cast<Index>(blockIdx.y) * T;
  const SliceProduct<Steps, T> product(a, first_tile, slices);
  const int warp = static_cast<int>(threadIdx.x) / kWarp,
            lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
  for (int t = 0; t < T; ++t) {
    if (first_tile + t >= a.x.tiles) {
      break;  // the same for all threads
    }
    for (int row = 0; row < 2; ++row) {
      float* const to = &sums[warp][lane % 4 * 2 + row][lane / 4 * 4];
      for (int feature = 0; feature < 4; ++feature) {
        to[feature] = product.sum(t, feature, row);
      }
    }
    __syncthreads();
    store_tile<Steps>(a, sums, first_tile + t, slices);
    __syncthreads();
  }
}

/// Warps of a block: as many as have 256 inputs each, up to sixteen; a power of two.
int slices_of(Index units) {
  int slices = 1;
  while (slices < kMostSlices && slices < units) {
    slices *= 2;
  }
  return slices;
}

template <class Steps, int T>
void launch_product(device::CudaStream& stream, const PackedProduct& a, Index heads) {
  const dim3 grid(static_cast<unsigned>((a.blocks + 1) / 2),
                  static_cast<unsigned>((a.x.tiles + T - 1) / T), static_cast<unsigned>(heads));
  launch(stream, PackedMatmul::name, {grid, static_cast<unsigned>(slices_of(a.units) * kWarp)},
         packed_product<Steps, T>, a);
}

/// More rows in a pass want more registers, and fewer passes read the weights again.
template <class Steps>
void multiply_tiles(device::CudaStream& stream, const PackedProduct& a, Index heads) {
  if (a.x.tiles == 1) {
    launch_product<Steps, 1>(stream, a, heads);
  } else if (a.x.tiles == 2) {
    launch_product<Steps, 2>(stream, a, heads);
  } else {
    launch_product<Steps, 4>(stream, a, heads);
  }
}

void round_inputs(device::CudaStream& stream, const PackedMatmul& kernel, const RoundedRows& to) {
  const bool four = kernel.format == WeightFormat::q4;
  const Index k = kernel.inputs(), heads = kernel.heads();
  const Index units = (k + kUnitInputs - 1) / kUnitInputs;
  visit_element(kernel.x.dtype, [&]<class T>() {
    const Rows<const T> x = rows_of<T>(kernel.x);
    launch(stream, PackedMatmul::name,
           {blocks_for(heads * to.tiles * kTileRows * units, kThreads / kWarp), kThreads},
           round_rows<T>,
           Rounding<T>{x, all_packed(x), kernel.x.size(0), heads, k, four ? 8 : 128,
                       static_cast<int>(facts(kernel.format).group / kPack), to});
  });
}

PackedProduct product_of(const PackedMatmul& kernel, const RoundedRows& x) {
  const Index n = kernel.outputs(), k = kernel.inputs();
  return {.x = x,
          .packed = kernel.packed.as<std::uint8_t>(),
          .blocks = packed_blocks(n),
          .block_bytes = packed_block_bytes(kernel.format, k),
          .weight_bytes = packed_weight_bytes(kernel.format, k),
          .m = kernel.y.size(0),
          .n = n,
          .units = (k + kUnitInputs - 1) / kUnitInputs,
          .bias = {kernel.bias.data, kernel.bias.dtype},
          .y = {kernel.y.data, kernel.y.dtype},
          .y_row = kernel.y.stride(0),
          .y_head = kernel.y.shape.rank() == 3 ? kernel.y.stride(1) : 0};
}

}  // namespace

Index workspace_bytes(const device::CudaStream&, const PackedMatmul& kernel) {
  return RoundedRows(nullptr, kernel).bytes(kernel.heads());
}

void run(device::CudaStream& stream, const PackedMatmul& kernel) {
  constexpr std::uintptr_t kAlignment = sizeof(uint4);
  check(kernel);
  MPITRON_CHECK(facts(kernel.format).group > 0, facts(kernel.format).name);
  if (kernel.y.numel() == 0) {
    return;
  }
  const RoundedRows x(kernel.workspace.data, kernel);
  MPITRON_CHECK(kernel.workspace.bytes() >= x.bytes(kernel.heads()), kernel.workspace.bytes());
  for (const void* const data : {kernel.packed.data, static_cast<const void*>(x.data)}) {
    MPITRON_CHECK(reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0);
  }
  round_inputs(stream, kernel, x);
  const PackedProduct product = product_of(kernel, x);
  if (kernel.format == WeightFormat::q4) {
    multiply_tiles<FourBitSteps>(stream, product, kernel.heads());
  } else {
    multiply_tiles<EightBitSteps>(stream, product, kernel.heads());
  }
}

}  // namespace mpitron::kernels

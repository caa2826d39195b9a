// Multiplies a few rows by a packed weight (generation). Each thread takes whole blocks of 16
// features and passes all rows over them, so that a weight is read from memory once; k is added in
// one order for any number of rows, which makes a row's bits independent of its batch.
#include "kernels/linear/packed_matmul.h"

#include "kernels/host/linear/packed_integers.h"
#include "kernels/host/linear/packed_numbers.h"
#include "kernels/host/linear/packed_tiles.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using packed::ComingWeights;
using packed::IntegerRows;
using packed::NumberRows;
using simd::Float;
using simd::kLanes;

static_assert(kPackedColumns == kLanes);

/// Rows of x that share a pass over a block of weights.
constexpr Index kRows = 8;
/// Bytes that are fetched ahead at most: more would push out what is multiplied now.
constexpr Index kMostAhead = Index{1} << 18;

/// Blocks of columns that are summed side by side: few rows need many chains of additions, many
/// rows need the registers, twice as many where each group of 4-bit weights has sums of its own.
template <class Weights>
constexpr int blocks_beside(int rows) {
  if (std::is_same_v<Weights, packed::FourBits>) {
    return rows <= 1 ? 4 : rows <= 4 ? 2 : 1;
  }
  const bool integers = std::is_same_v<typename Weights::Rows, IntegerRows>;
  return rows <= 4 ? 4 : rows <= 6 ? (integers ? 2 : 4) : integers ? 2 : 3;
}

/// Writes sums, with the bias added, in the output's type.
template <class Y>
struct Results {
  Y* y;
  Index stride, n;
  In bias;

  void store(Index row, Index column, Float sum) const {
    const auto finish = [&](auto lanes) {
      if (bias) {
        visit_dtype(bias.dtype,
                    [&]<class B>() { sum += simd::load(bias.as<B>() + column, lanes); });
      }
      simd::store(y + row * stride + column, sum, lanes);
    };
    if (column + kLanes <= n) {
      finish(simd::Full{});
    } else {
      finish(simd::Part{n - column});
    }
  }
};

/// The product of one head: rows times blocks, in tiles of at most kRows rows and some blocks,
/// whose sums are in registers.
template <class Weights, class Y>
class Product {
 public:
  /// Takes `x`, the rows of all heads, and keeps those of `head`.
  Product(const typename Weights::Rows& x, const PackedMatmul& kernel, Index head)
      : x_(x.of_head(head, kernel.y.size(0))),
        k_(kernel.inputs()),
        m_(kernel.y.size(0)),
        packed_(kernel.packed.as<std::uint8_t>() +
                head * packed_bytes(kernel.format, kernel.outputs(), k_)),
        bytes_(packed_block_bytes(kernel.format, k_)),
        results_{kernel.y.as<Y>() + (head > 0 ? head * kernel.y.stride(1) : 0), kernel.y.stride(0),
                 kernel.outputs(), kernel.bias} {}

  /// All rows times some blocks: a few blocks at a time stay in the cache for all rows, and the
  /// next ones come meanwhile.
  void run(Index begin, Index end) const {
    const Index beside = beside_of(std::min(m_, kRows));
    for (Index block = begin; block < end; block += beside) {
      const Index last = std::min(block + beside, end);
      const ComingWeights coming = behind(last, std::min(last + beside, end), last - block);
      for (Index row = 0; row < m_; row += kRows) {
        const Index rows = std::min(kRows, m_ - row);
        for (Index first = block; first < last;) {
          const Index count = std::min(last - first, beside_of(rows));
          const Index asked = (row / kRows * (last - block) + first - block) * asks();
          multiply_rows<kRows>({row, first, coming.after(asked)}, rows, count);
          first += count;
        }
      }
    }
  }

 private:
  static constexpr bool kIntegers = std::is_same_v<typename Weights::Rows, IntegerRows>;
  static Index beside_of(Index rows) { return blocks_beside<Weights>(static_cast<int>(rows)); }

  struct Tile {
    Index row, block;
    ComingWeights coming;
  };
  Index asks() const {
    if constexpr (kIntegers) {
      return Weights::asks(k_);
    } else {
      return (k_ + Weights::kInputs - 1) / Weights::kInputs;
    }
  }
  /// Shares blocks [begin, end) out over what is asked for while all rows pass over `now` blocks.
  ComingWeights behind(Index begin, Index end, Index now) const {
    if (begin == end || (end - begin) * bytes_ > kMostAhead) {
      return {packed_, 0};
    }
    const Index all = (m_ + kRows - 1) / kRows * now * asks();
    return {packed_ + begin * bytes_, ((end - begin) * bytes_ + all - 1) / all};
  }

  template <int M, int B>
  void multiply_tile(const Tile& tile) const {
    const auto [row, block, coming] = tile;
    Float sums[M][B] = {};
    const packed::TileBlocks blocks{packed_ + block * bytes_, bytes_, coming};
    if constexpr (kIntegers) {
      packed::multiply_integers<Weights, M, B>(x_, row, k_, blocks, sums);
    } else {
      packed::multiply_numbers<Weights, M, B>(x_, row, k_, blocks, sums);
    }
    for (int m = 0; m < M; ++m) {
      for (int b = 0; b < B; ++b) {
        results_.store(row + m, (block + b) * kLanes, sums[m][b]);
      }
    }
  }
  /// Picks the tile for a number of blocks that is known at run time: whole tiles of B, and one of
  /// what is left.
  template <int M, int B>
  void multiply_blocks(const Tile& tile, Index count) const {
    if (count >= B) {
      multiply_tile<M, B>(tile);
    } else if constexpr (B > 1) {
      multiply_blocks<M, B - 1>(tile, count);
    }
  }
  template <int M>
  void multiply_rows(const Tile& tile, Index rows, Index count) const {
    if (rows >= M) {
      multiply_blocks<M, blocks_beside<Weights>(M)>(tile, count);
    } else if constexpr (M > 1) {
      multiply_rows<M - 1>(tile, rows, count);
    }
  }

  typename Weights::Rows x_;
  Index k_, m_;
  const std::uint8_t* packed_;
  Index bytes_;
  Results<Y> results_;
};

template <class Weights>
void multiply(const PackedMatmul& kernel, const typename Weights::Rows& x) {
  const Index blocks = packed_blocks(kernel.outputs()), heads = kernel.heads();
  const Index work = kernel.y.numel() * kernel.inputs() / kLanes;
  visit_dtype(kernel.y.dtype, [&]<class Y>() {
    for_ranges(heads * blocks, work, [&](Index begin, Index end) {
      for (Index head = begin / blocks; head * blocks < end; ++head) {
        const Index first = head * blocks;
        Product<Weights, Y>(x, kernel, head)
            .run(std::max(begin - first, Index{0}), std::min(end - first, blocks));
      }
    });
  });
}

bool takes_integers(const PackedMatmul& kernel) {
  return facts(kernel.format).group > 0;
}
/// Whether rows of bf16 are taken as they are.
bool takes_bf16(const PackedMatmul& kernel) {
  return kernel.x.dtype == DType::bf16 && kernel.format == WeightFormat::bf16 &&
         (packed::kPairProducts || packed::has_tiles());
}
/// Whether the processor's matrix units multiply. Weights of 4 bits have to be unpacked in memory
/// for them, which few rows are not worth; their sums are the same either way.
bool takes_tiles(const PackedMatmul& kernel) {
  constexpr Index kFewRows = 4;
  const bool enough = kernel.format != WeightFormat::q4 || kernel.x.size(0) > kFewRows;
  return packed::has_tiles() && (takes_bf16(kernel) || takes_integers(kernel)) && enough;
}
/// Tells whether rows are copied and filled up with zeros, since tiles of the matrix units are
/// whole.
bool fills_rows(const PackedMatmul& kernel) {
  return takes_bf16(kernel) && takes_tiles(kernel) &&
         kernel.inputs() % facts(WeightFormat::bf16).step != 0;
}

/// Bytes of x as the product takes it, where that lies in the workspace.
Index taken_bytes(const PackedMatmul& kernel) {
  const Index rows = kernel.x.size(0) * kernel.heads(), k = kernel.inputs();
  const Index bytes = takes_integers(kernel) ? packed::integer_rows_bytes(kernel.format, rows, k)
                      : fills_rows(kernel)   ? rows * packed_inputs(kernel.format, k) * 2
                      : kernel.x.dtype == DType::f32 || takes_bf16(kernel)
                          ? 0
                          : rows * k * Index{sizeof(float)};
  return (bytes + 63) / 64 * 64;
}

template <class T>
NumberRows<T> given_rows(const PackedMatmul& kernel) {
  return {kernel.x.as<T>(), kernel.x.stride(0), kernel.heads() > 1 ? kernel.x.stride(1) : 0};
}

/// Calls f(row, head, its elements) for all rows of all heads.
template <class X, class F>
void for_rows(const PackedMatmul& kernel, Index work, F&& f) {
  const Index heads = kernel.heads();
  const auto x = given_rows<X>(kernel);
  for_blocks(kernel.x.size(0) * heads, work, [&](Index i) {
    f(i / heads, i % heads, x.row(i / heads) + i % heads * x.head_stride);
  });
}

/// Returns x as fp32: itself, or its copy in the workspace.
NumberRows<float> exact_rows(const PackedMatmul& kernel) {
  if (kernel.x.dtype == DType::f32) {
    return given_rows<float>(kernel);
  }
  const Index k = kernel.inputs(), heads = kernel.heads();
  float* copy = kernel.workspace.as<float>();
  visit_dtype(kernel.x.dtype, [&]<class X>() {
    for_rows<X>(kernel, kernel.x.numel(), [&](Index row, Index head, const X* from) {
      float* to = copy + (row * heads + head) * k;
      simd::for_lanes(
          k, [&](Index i, auto lanes) { simd::store(to + i, simd::load(from + i, lanes), lanes); });
    });
  });
  return {copy, heads * k, k};
}

/// Multiplies rows of bf16 as they are, where the processor multiplies pairs.
template <class Weights>
void multiply_pairs(const PackedMatmul& kernel) {
  if constexpr (std::is_same_v<typename Weights::Rows, NumberRows<BFloat16>>) {
    multiply<Weights>(kernel, given_rows<BFloat16>(kernel));
  }
}

/// Rounds x to 8 bits, in the workspace.
IntegerRows rounded_rows(const PackedMatmul& kernel) {
  const Index m = kernel.x.size(0), k = kernel.inputs();
  const IntegerRows rows =
      packed::integer_rows(kernel.workspace.data, kernel.format, m * kernel.heads(), k);
  visit_dtype(kernel.x.dtype, [&]<class X>() {
    for_rows<X>(kernel, 4 * kernel.x.numel(), [&](Index row, Index head, const X* from) {
      packed::round_row(from, k, kernel.format, rows, head * m + row);
    });
  });
  return rows;
}

#if defined(__AMX_BF16__) && defined(__AMX_INT8__)

/// Returns rows of bf16, filled up with zeros to whole tiles where they are not.
NumberRows<BFloat16> pair_rows(const PackedMatmul& kernel) {
  if (!fills_rows(kernel)) {
    return given_rows<BFloat16>(kernel);
  }
  const Index k = kernel.inputs(), filled = packed_inputs(kernel.format, k);
  const Index heads = kernel.heads();
  auto* copy = static_cast<BFloat16*>(kernel.workspace.data);
  for_rows<BFloat16>(kernel, kernel.x.numel(), [&](Index row, Index head, const BFloat16* from) {
    BFloat16* to = copy + (row * heads + head) * filled;
    std::fill(std::copy_n(from, k, to), to + filled, BFloat16{});
  });
  return {copy, heads * filled, filled};
}

template <class Kind>
void multiply_tiles(const PackedMatmul& kernel, const typename Kind::Rows& x) {
  // Two blocks are a matrix unit's share, so threads take pairs of them.
  const Index m = kernel.y.size(0), n = kernel.outputs(), k = kernel.inputs();
  const Index blocks = packed_blocks(n), pairs = (blocks + 1) / 2;
  auto* const scratch = reinterpret_cast<float*>(static_cast<std::uint8_t*>(kernel.workspace.data) +
                                                 taken_bytes(kernel));
  visit_dtype(kernel.y.dtype, [&]<class Y>() {
    for_ranges(kernel.heads() * pairs, kernel.y.numel() * k / kLanes,
               [&](Index begin, Index end, Index worker) {
                 for (Index head = begin / pairs; head * pairs < end; ++head) {
                   const std::uint8_t* weights =
                       kernel.packed.as<std::uint8_t>() + head * packed_bytes(kernel.format, n, k);
                   const Results<Y> results{
                       kernel.y.as<Y>() + (head > 0 ? head * kernel.y.stride(1) : 0),
                       kernel.y.stride(0), n, kernel.bias};
                   packed::TiledProduct<Kind, packed::MatrixUnit> product(
                       x.of_head(head, m), m, k, weights,
                       scratch + worker * packed::tile_memory(kernel.format, m));
                   const Index first = head * pairs;
                   product.run(2 * std::max(begin - first, Index{0}),
                               std::min(2 * std::min(end - first, pairs), blocks),
                               [&](Index row, Index block, Float sum) {
                                 if constexpr (!std::is_same_v<Kind, packed::PairTiles>) {
                                   sum *= Kind::Weights::scale(
                                       weights + block * packed_block_bytes(kernel.format, k), k);
                                 }
                                 results.store(row, block * kLanes, sum);
                               });
                 }
               });
  });
}

bool multiply_by_tiles(const PackedMatmul& kernel) {
  if (!takes_tiles(kernel)) {
    return false;
  }
  if (kernel.format == WeightFormat::bf16) {
    multiply_tiles<packed::PairTiles>(kernel, pair_rows(kernel));
  } else if (kernel.format == WeightFormat::int8) {
    multiply_tiles<packed::ByteTiles>(kernel, rounded_rows(kernel));
  } else {
    multiply_tiles<packed::NibbleTiles>(kernel, rounded_rows(kernel));
  }
  return true;
}

#else

bool multiply_by_tiles(const PackedMatmul& /*kernel*/) {
  return false;
}

#endif

}  // namespace

Index workspace_bytes(const device::HostStream&, const PackedMatmul& kernel) {
  const Index tiles = takes_tiles(kernel)
                          ? packed::tile_memory(kernel.format, kernel.x.size(0)) * max_workers()
                          : 0;
  return taken_bytes(kernel) + tiles * Index{sizeof(float)};
}

void run(device::HostStream&, const PackedMatmul& kernel) {
  check(kernel);
  if (multiply_by_tiles(kernel)) {
    return;
  }
  if (takes_bf16(kernel)) {
    return multiply_pairs<packed::PairProducts>(kernel);
  }
  switch (kernel.format) {
    case WeightFormat::fp32:
      return multiply<packed::Singles<float>>(kernel, exact_rows(kernel));
    case WeightFormat::bf16:
      return multiply<packed::Pairs>(kernel, exact_rows(kernel));
    case WeightFormat::fp16:
      return multiply<packed::Singles<Float16>>(kernel, exact_rows(kernel));
    case WeightFormat::int8:
      return multiply<packed::EightBits>(kernel, rounded_rows(kernel));
    case WeightFormat::q4:
      return multiply<packed::FourBits>(kernel, rounded_rows(kernel));
  }
}

}  // namespace mpitron::kernels

#include <algorithm>
#include <span>

#include "kernels/cuda/linear/grouped_product.h"
#include "kernels/cuda/linear/product_tile.cuh"

namespace mpitron::kernels::cuda {
namespace {

/// Products of one launch, which are its arguments: every GPU takes 4 KiB of them.
constexpr std::size_t kMostProducts = 96;

struct Product {
  const void *a, *b;
  void* c;
  int m, k;
  int first_block;
  bool accumulate;
};

struct Products {
  Index a_stride, b_stride, c_stride;
  int n, count;
  Product products[kMostProducts];
};
static_assert(sizeof(Products) <= 4096);

int tiles_of(Index extent) {
  return static_cast<int>((extent + kTile - 1) / kTile);
}

/// Returns the factor from row or column `begin` of c on.
template <bool kDepthInRows>
__device__ Factor factor_at(const void* data, Index stride, Index begin, Index extent) {
  const Index skipped = kDepthInRows ? begin * stride : begin;
  return {static_cast<const std::uint16_t*>(data) + skipped, stride, extent - begin};
}

/// Multiplies one tile. Tiles of a product lie column after column, so that blocks that run
/// together share b.
template <class T, class C, bool kTransposeA, bool kTransposeB>
__global__ void __launch_bounds__(kTileThreads, 2)
    multiply_products(const __grid_constant__ Products all) {
  const int block = static_cast<int>(blockIdx.x);
  int index = 0;
  while (index + 1 < all.count && all.products[index + 1].first_block <= block) {
    ++index;
  }
  const Product& p = all.products[index];
  const int tile = block - p.first_block, tile_rows = (p.m + kTile - 1) / kTile;
  const Index row = static_cast<Index>(tile % tile_rows) * kTile;
  const Index column = static_cast<Index>(tile / tile_rows) * kTile;
  const TileSums sums = multiply_tile<T, !kTransposeA, kTransposeB>(
      factor_at<!kTransposeA>(p.a, all.a_stride, row, p.m),
      factor_at<kTransposeB>(p.b, all.b_stride, column, all.n), p.k);
  C* const c = static_cast<C*>(p.c) + row * all.c_stride + column;
  const auto put = [&](C* to, auto sum, auto width) {
    store(to,
          p.accumulate ? each([](float x, float y) { return x + y; }, load(to, width), sum) : sum);
  };
  sums.for_pairs([&](int i, int j, const Floats<2>& pair) {
    C* const to = c + i * all.c_stride + j;
    const Index left = row + i < p.m ? all.n - column - j : 0;
    if (left >= 2) {
      put(to, pair, Width<2>());
    } else if (left == 1) {
      put(to, Floats<1>{{pair[0]}}, Width<1>());
    }
  });
}

/// Launches tiles of one combination of transposes.
template <class T, class C, bool kTransposeA, bool kTransposeB>
void launch_products(device::CudaStream& stream, const Products& all, int blocks) {
  launch(stream, GroupedProduct::name,
         {static_cast<unsigned>(blocks), kTileThreads, kTileSharedBytes},
         multiply_products<T, C, kTransposeA, kTransposeB>, all);
}

/// Chooses the combination: forward (b transposed), gradient of inputs, gradient of weights (a
/// transposed, into c's type or fp32).
template <class T>
void run_typed(device::CudaStream& stream, const Matmul& like, const Products& all, int blocks) {
  if (!like.transpose_a) {
    return like.transpose_b ? launch_products<T, T, false, true>(stream, all, blocks)
                            : launch_products<T, T, false, false>(stream, all, blocks);
  }
  return like.c.dtype == DType::f32 ? launch_products<T, float, true, false>(stream, all, blocks)
                                    : launch_products<T, T, true, false>(stream, all, blocks);
}

/// Lays the products' tiles one behind the other in one grid.
void run_at_once(device::CudaStream& stream, std::span<const Matmul> products) {
  const Matmul& like = products.front();
  Products all{like.a.stride(0), like.b.stride(0), like.c.stride(0),
               static_cast<int>(like.c.size(1)), static_cast<int>(products.size())};
  int blocks = 0;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const Matmul& p = products[i];
    MPITRON_CHECK(p.a.stride(0) == all.a_stride && p.b.stride(0) == all.b_stride &&
                  p.c.stride(0) == all.c_stride && p.c.size(1) == all.n);
    const Index m = p.c.size(0), k = p.a.size(p.transpose_a ? 0 : 1);
    all.products[i] = {p.a.data, p.b.data,    p.c.data, static_cast<int>(m), static_cast<int>(k),
                       blocks,   p.accumulate};
    blocks += tiles_of(m) * tiles_of(all.n);
  }
  if (like.a.dtype == DType::bf16) {
    run_typed<__nv_bfloat16>(stream, like, all, blocks);
  } else {
    run_typed<__half>(stream, like, all, blocks);
  }
}

template <class View>
bool rows_are_aligned(const View& view) {
  return (reinterpret_cast<std::uintptr_t>(view.data) |
          static_cast<std::uintptr_t>(view.stride(0)) * size_of(view.dtype)) %
             16 ==
         0;
}

}  // namespace

bool GroupedProduct::takes(const Matmul& p) {
  const bool half = p.a.dtype == DType::bf16 || p.a.dtype == DType::f16;
  const bool has_types = p.c.dtype == p.a.dtype || (p.transpose_a && p.c.dtype == DType::f32);
  return half && has_types && !(p.transpose_a && p.transpose_b) && !p.bias &&
         p.activation == Activation::none && rows_are_aligned(p.a) && rows_are_aligned(p.b) &&
         rows_are_aligned(p.c);
}

void GroupedProduct::run(device::CudaStream& stream) const {
  for (std::size_t first = 0; first < products_.size(); first += kMostProducts) {
    run_at_once(stream, std::span(products_).subspan(
                            first, std::min(kMostProducts, products_.size() - first)));
  }
}

}  // namespace mpitron::kernels::cuda

#include "kernels/linear/packed_matmul.h"

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;
using simd::kLanes;

static_assert(kPackedColumns == kLanes);

/// Rows of x that share a pass over a block of weights.
constexpr Index kRows = 8;

/// Blocks of columns that are summed side by side: few rows need many chains of additions, many
/// rows need the registers.
constexpr int blocks_beside(int rows) {
  return rows <= 4 ? 4 : rows <= 6 ? 4 : 3;
}

/// The rows of x and what becomes of their sums.
template <class Y>
struct Product {
  const float* x;
  Index x_stride, k, n;
  Y* y;
  Index y_stride;
  In bias;

  void store(Index row, Index column, Float sum) const {
    const auto finish = [&](auto lanes) {
      if (bias) {
        visit_dtype(bias.dtype,
                    [&]<class B>() { sum += simd::load(bias.as<B>() + column, lanes); });
      }
      simd::store(y + row * y_stride + column, sum, lanes);
    };
    if (column + kLanes <= n) {
      finish(simd::Full{});
    } else {
      finish(simd::Part{n - column});
    }
  }
};

/// M rows from `row` on times B blocks from `block` on.
template <int M, int B, class T, class Y>
void multiply_tile(const Product<Y>& product, const T* packed, Index row, Index block) {
  Float sums[M][B] = {};
  const Index k = product.k, size = k * kLanes;
  const T* weights = packed + block * size;
  const float* x = product.x + row * product.x_stride;
  for (Index i = 0; i < k; ++i) {
    Float columns[B];
    for (int b = 0; b < B; ++b) {
      columns[b] = simd::load(weights + b * size + i * kLanes);
    }
    for (int m = 0; m < M; ++m) {
      const Float factor = simd::splat(x[m * product.x_stride + i]);
      for (int b = 0; b < B; ++b) {
        sums[m][b] = simd::fma(factor, columns[b], sums[m][b]);
      }
    }
  }
  for (int m = 0; m < M; ++m) {
    for (int b = 0; b < B; ++b) {
      product.store(row + m, (block + b) * kLanes, sums[m][b]);
    }
  }
}

/// The same with a number of blocks that is known now: all that are left below B.
template <int M, int B, class T, class Y>
void multiply_blocks(const Product<Y>& product, const T* packed, Index row, Index block,
                     Index count) {
  if (count >= B) {
    multiply_tile<M, B>(product, packed, row, block);
  } else if constexpr (B > 1) {
    multiply_blocks<M, B - 1>(product, packed, row, block, count);
  }
}

template <int M, class T, class Y>
void multiply_rows(const Product<Y>& product, const T* packed, Index row, Index rows, Index block,
                   Index count) {
  if (rows >= M) {
    multiply_blocks<M, blocks_beside(M)>(product, packed, row, block, count);
  } else if constexpr (M > 1) {
    multiply_rows<M - 1>(product, packed, row, rows, block, count);
  }
}

/// All rows of x times some blocks: a few blocks at a time stay in the cache for all rows.
template <class T, class Y>
void multiply_range(const Product<Y>& product, const T* packed, Index m, Index begin, Index end) {
  const Index beside = m < kRows ? blocks_beside(static_cast<int>(m)) : blocks_beside(kRows);
  for (Index block = begin; block < end; block += beside) {
    for (Index row = 0; row < m; row += kRows) {
      const Index rows = std::min(kRows, m - row), last = std::min(block + beside, end);
      for (Index first = block; first < last;) {
        const Index count = std::min<Index>(last - first, blocks_beside(static_cast<int>(rows)));
        multiply_rows<kRows>(product, packed, row, rows, first, count);
        first += count;
      }
    }
  }
}

/// x as fp32: itself, or its copy in the workspace.
const float* exact_rows(const PackedMatmul& kernel) {
  if (kernel.x.dtype == DType::f32) {
    return kernel.x.as<float>();
  }
  const Index m = kernel.x.size(0), k = kernel.x.size(1);
  float* copy = kernel.workspace.as<float>();
  visit_dtype(kernel.x.dtype, [&]<class X>() {
    for_blocks(m, m * k, [&](Index row) {
      const X* from = kernel.x.as<X>() + row * kernel.x.stride(0);
      simd::for_lanes(k, [&](Index i, auto lanes) {
        simd::store(copy + row * k + i, simd::load(from + i, lanes), lanes);
      });
    });
  });
  return copy;
}

template <class T>
void pack_block(const PackWeight& kernel, Index block) {
  const Index n = kernel.weight.size(0), k = kernel.weight.size(1);
  T* packed = kernel.packed.as<T>() + block * k * kLanes;
  visit_dtype(kernel.weight.dtype, [&]<class W>() {
    for (Index lane = 0; lane < kLanes; ++lane) {
      const Index row = block * kLanes + lane;
      const W* from = kernel.weight.as<W>() + row * kernel.weight.stride(0);
      for (Index i = 0; i < k; ++i) {
        packed[i * kLanes + lane] = T(row < n ? static_cast<float>(from[i]) : 0.f);
      }
    }
  });
}

}  // namespace

void run(device::HostStream&, const PackWeight& kernel) {
  const Index n = kernel.weight.size(0), k = kernel.weight.size(1);
  MPITRON_CHECK(kernel.packed.numel() == packed_elements(n, k), kernel.packed.numel(), n, k);
  visit_dtype(kernel.packed.dtype, [&]<class T>() {
    for_blocks((n + kLanes - 1) / kLanes, n * k,
               [&](Index block) { pack_block<T>(kernel, block); });
  });
}

Index workspace_bytes(const device::HostStream&, const PackedMatmul& kernel) {
  return kernel.x.dtype == DType::f32 ? 0 : kernel.x.numel() * Index{sizeof(float)};
}

void run(device::HostStream&, const PackedMatmul& kernel) {
  const Index m = kernel.y.size(0), n = kernel.y.size(1), k = kernel.x.size(1);
  MPITRON_CHECK(kernel.packed.numel() == packed_elements(n, k), kernel.packed.numel(), n, k);
  MPITRON_CHECK(kernel.x.size(0) == m && kernel.x.dtype == kernel.y.dtype, kernel.x.size(0), m);
  const float* x = exact_rows(kernel);
  const Index x_stride = kernel.x.dtype == DType::f32 ? kernel.x.stride(0) : k;
  visit_dtypes(kernel.packed.dtype, kernel.y.dtype, [&]<class T, class Y>() {
    const Product<Y> product{x, x_stride, k, n, kernel.y.as<Y>(), kernel.y.stride(0), kernel.bias};
    for_ranges((n + kLanes - 1) / kLanes, m * n * k / kLanes, [&](Index begin, Index end) {
      multiply_range(product, kernel.packed.as<T>(), m, begin, end);
    });
  });
}

}  // namespace mpitron::kernels

// Numerical contract: that of kernels/experts/permute.h.
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/common/vector.cuh"
#include "kernels/experts/permute.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// Copies rows; bits are copied, so T is an integer of the elements' size.
template <class T>
__global__ void permute_rows(const __grid_constant__ Rows<const T> x, const std::int64_t* rows,
                             const __grid_constant__ Rows<T> y, Index n, Index h, bool packed) {
  for_rows(n, h, packed, [&](Index place, Index i, auto width) {
    const Index row = rows[place];
    const Raw<T, width> nothing{};
    store_raw(y[place] + i, row < 0 ? nothing : load_raw(x[row] + i, width));
  });
}

// ---------------------------------------------------------------------------------------------
// the way back: the places of each row, in order

/// Places of each row: those of row r are places[starts[r]] .. places[starts[r + 1] - 1].
struct Sources {
  std::int64_t* starts;   // [t + 1]
  std::int64_t* cursors;  // [t]: where the next place of a row goes
  std::int64_t* places;   // [n]
  Index t, n;

  explicit Sources(const Unpermute& k)
      : starts(static_cast<std::int64_t*>(k.workspace.data)),
        cursors(starts + k.x.size(0) + 1),
        places(cursors + k.x.size(0)),
        t(k.x.size(0)),
        n(k.rows.numel()) {}
  static Index bytes(Index t, Index n) {
    return (2 * t + 1 + n) * static_cast<Index>(sizeof(std::int64_t));
  }
};

__device__ std::int64_t add_one(std::int64_t* counter) {
  return static_cast<std::int64_t>(atomicAdd(reinterpret_cast<unsigned long long*>(counter), 1ULL));
}

/// Counts how many places row r has into cursors[r], which is zero before.
__global__ void count_places(const std::int64_t* rows, Sources s) {
  for (Index i = thread_of_grid().index; i < s.n; i += thread_of_grid().count) {
    if (rows[i] >= 0) {
      add_one(s.cursors + rows[i]);
    }
  }
}

constexpr int kSumThreads = kMostWarps * kWarp;

/// Makes starts and cursors the sums of the counts before each row, by one block.
__global__ __launch_bounds__(kSumThreads) void sum_counts(Sources s) {
  __shared__ std::int64_t partial[kMostWarps];
  std::int64_t before = 0;
  for (Index first = 0; first < s.t; first += blockDim.x) {
    const Index row = first + threadIdx.x;
    const std::int64_t count = row < s.t ? s.cursors[row] : 0;
    const Scanned<std::int64_t> sum = block_scan(count, partial);
    if (row < s.t) {
      s.starts[row] = s.cursors[row] = before + sum.before;
    }
    before += sum.total;
  }
  if (threadIdx.x == 0) {
    s.starts[s.t] = before;
  }
}

/// Writes each row's places in any order; sort_places orders them.
__global__ void write_places(const std::int64_t* rows, Sources s) {
  for (Index i = thread_of_grid().index; i < s.n; i += thread_of_grid().count) {
    if (rows[i] >= 0) {
      s.places[add_one(s.cursors + rows[i])] = i;
    }
  }
}

/// Sorts a row's places by insertion, one thread to a row, since they are few.
__global__ void sort_places(Sources s) {
  for (Index row = thread_of_grid().index; row < s.t; row += thread_of_grid().count) {
    for (Index next = s.starts[row] + 1; next < s.starts[row + 1]; ++next) {
      const std::int64_t place = s.places[next];
      Index at = next;
      for (; at > s.starts[row] && s.places[at - 1] > place; --at) {
        s.places[at] = s.places[at - 1];
      }
      s.places[at] = place;
    }
  }
}

/// Adds a row's places in order, in fp32, rounded once.
template <class T>
__global__ void add_places(const __grid_constant__ Rows<const T> y, Sources s,
                           const __grid_constant__ Rows<T> x, Index h, bool packed) {
  for_rows(s.t, h, packed, [&](Index row, Index i, auto width) {
    Floats<width> sum{};
    for (Index at = s.starts[row]; at < s.starts[row + 1]; ++at) {
      sum = each(Sum{}, sum, load(y[s.places[at]] + i, width));
    }
    store(x[row] + i, sum);
  });
}

// ---------------------------------------------------------------------------------------------
// factors

/// y = factor[row] x, rounded once.
template <class T>
__global__ void scale_rows(const __grid_constant__ Rows<const T> x, const float* factors,
                           const __grid_constant__ Rows<T> y, Index n, Index h, bool packed) {
  for_rows(n, h, packed, [&](Index row, Index i, auto width) {
    const float factor = factors[row];
    store(y[row] + i, each([factor](float v) { return v * factor; }, load(x[row] + i, width)));
  });
}

template <class T>
struct ScaleGradient {
  Rows<const T> dy, x;
  const float* factors;
  Rows<T> dx;
  float* dfactors;
  Index n, h;
  bool packed;
};

/// Gives a row to the threads of one threadIdx.y.
template <class T>
__global__ void scale_gradient_rows(const __grid_constant__ ScaleGradient<T> a) {
  __shared__ float partial[kMostWarps];
  const Index step = static_cast<Index>(gridDim.x) * blockDim.y;
  for (Index first = static_cast<Index>(blockIdx.x) * blockDim.y; first < a.n; first += step) {
    const Index row = first + threadIdx.y;
    float product = 0;
    if (row < a.n) {
      const float factor = a.factors[row];
      for_packs(a.h, a.packed, {threadIdx.x, blockDim.x}, [&](Index i, auto width) {
        auto gradient = load(a.dy[row] + i, width);
        const auto values = load(a.x[row] + i, width);
        for (int j = 0; j < width; ++j) {
          product += gradient[j] * values[j];
          gradient[j] *= factor;
        }
        store(a.dx[row] + i, gradient);
      });
    }
    product = block_sum(product, partial);
    if (row < a.n && threadIdx.x == 0) {
      a.dfactors[row] = product;
    }
  }
}

}  // namespace

void run(device::CudaStream& stream, const Permute& k) {
  MPITRON_CHECK(k.x.dtype == k.y.dtype, name_of(k.x.dtype), name_of(k.y.dtype));
  const Index n = k.rows.numel(), h = k.x.size(1);
  const auto copy = [&]<class T>() {
    const Rows<const T> x(static_cast<const T*>(k.x.data), k.x);
    const Rows<T> y(static_cast<T*>(k.y.data), k.y);
    launch(stream, k.name, row_shape(n, h), permute_rows<T>, x, k.rows.as<std::int64_t>(), y, n, h,
           all_packed(x, y));
  };
  if (size_of(k.x.dtype) == sizeof(std::uint16_t)) {
    copy.template operator()<std::uint16_t>();
  } else {
    MPITRON_CHECK(size_of(k.x.dtype) == sizeof(std::uint32_t), name_of(k.x.dtype));
    copy.template operator()<std::uint32_t>();
  }
}

Index workspace_bytes(const device::CudaStream&, const Unpermute& k) {
  return Sources::bytes(k.x.size(0), k.rows.numel());
}

void run(device::CudaStream& stream, const Unpermute& k) {
  const Sources sources(k);
  const Index h = k.x.size(1);
  MPITRON_CHECK(k.workspace.bytes() >= Sources::bytes(sources.t, sources.n), k.workspace.bytes());
  const auto* rows = k.rows.as<std::int64_t>();
  const LaunchShape by_place{blocks_for(sources.n, kThreads), kThreads};
  const LaunchShape by_row{blocks_for(sources.t, kThreads), kThreads};
  device::check(
      cudaMemsetAsync(sources.cursors, 0,
                      static_cast<std::size_t>(sources.t) * sizeof(std::int64_t), stream.handle),
      k.name);
  launch(stream, k.name, by_place, count_places, rows, sources);
  launch(stream, k.name, {1, kSumThreads}, sum_counts, sources);
  launch(stream, k.name, by_place, write_places, rows, sources);
  launch(stream, k.name, by_row, sort_places, sources);
  visit_element(k.x.dtype, [&]<class T>() {
    const Rows<const T> y = rows_of<T>(k.y);
    const Rows<T> x = rows_of<T>(k.x);
    launch(stream, k.name, row_shape(sources.t, h), add_places<T>, y, sources, x, h,
           all_packed(x, y));
  });
}

void run(device::CudaStream& stream, const ScaleRows& k) {
  const Index n = k.x.size(0), h = k.x.size(1);
  visit_element(k.x.dtype, [&]<class T>() {
    const Rows<const T> x = rows_of<T>(k.x);
    const Rows<T> y = rows_of<T>(k.y);
    launch(stream, k.name, row_shape(n, h), scale_rows<T>, x, k.factors.as<float>(), y, n, h,
           all_packed(x, y));
  });
}

void run(device::CudaStream& stream, const ScaleRowsBackward& k) {
  const Index n = k.x.size(0), h = k.x.size(1);
  visit_element(k.x.dtype, [&]<class T>() {
    const Rows<const T> dy = rows_of<T>(k.dy), x = rows_of<T>(k.x);
    const Rows<T> dx = rows_of<T>(k.dx);
    launch(stream, k.name, reduced_row_shape(n, h), scale_gradient_rows<T>,
           ScaleGradient<T>{dy, x, k.factors.as<float>(), dx, k.dfactors.as<float>(), n, h,
                            all_packed(dy, x, dx)});
  });
}

}  // namespace mpitron::kernels

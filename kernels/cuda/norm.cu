// Numerical contract: that of kernels/norm.h. A row belongs to the threads of one threadIdx.y; they
// hold it in registers (up to 16384 columns; longer ones are read again) and sum it in fp32 in a
// fixed order. dgamma and dbeta: each worker adds its rows in order, then workers are added in
// order.
#include "intrinsics.cuh"
#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector.cuh"
#include "kernels/norm.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

constexpr int kPacks = 4;  // of a row in the registers of a thread
constexpr unsigned kMostThreads = 512;
constexpr Index kColumnsOfThread = Index{kPacks} * kPack;

/// The row's pack at a column, of which `left` columns exist; zeros beyond.
template <class T>
__device__ Raw<T, kPack> load_part(const T* p, Index left, bool packed) {
  if (packed && left >= kPack) {
    return load_raw(p, Width<kPack>());
  }
  Raw<T, kPack> raw{};
  for (int j = 0; j < kPack; ++j) {
    if (j < left) {
      raw.v[j] = p[j];
    }
  }
  return raw;
}

template <class T>
__device__ void store_part(T* p, const Floats<kPack>& x, Index left, bool packed) {
  if (packed && left >= kPack) {
    store(p, x);
    return;
  }
  for (int j = 0; j < kPack; ++j) {
    if (j < left) {
      p[j] = static_cast<T>(x[j]);
    }
  }
}

/// Which columns of rows of h are a thread's: a row is cut into chunks, in each of which a thread
/// has kPacks packs, blockDim.x packs apart.
struct Columns {
  Index h;
  bool packed;

  /// body(begin) for the chunks.
  template <class F>
  __device__ void for_chunks(F&& body) const {
    for (Index begin = 0; begin < h; begin += Index{blockDim.x} * kColumnsOfThread) {
      body(begin);
    }
  }
  __device__ Index column(Index begin, int pack) const {
    return begin + (static_cast<Index>(pack) * blockDim.x + threadIdx.x) * kPack;
  }
  /// body(pack, column, columns left) for the packs of the chunk in which there are columns.
  template <class F>
  __device__ void for_packs(Index begin, F&& body) const {
#pragma unroll  // packs stay in registers
    for (int pack = 0; pack < kPacks; ++pack) {
      const Index i = column(begin, pack);
      if (i < h) {
        body(pack, i, h - i);
      }
    }
  }
};

/// The part of a row that a thread holds.
template <class T>
struct RowPart {
  Raw<T, kPack> packs[kPacks];
  Index begin = -1;  // of the chunk

  /// Does nothing where this chunk is held already.
  __device__ void load(const T* row, const Columns& columns, Index wanted) {
    if (begin == wanted) {
      return;
    }
    begin = wanted;
#pragma unroll  // packs stay in registers
    for (int pack = 0; pack < kPacks; ++pack) {
      const Index i = columns.column(begin, pack);
      packs[pack] = load_part(row + i, columns.h - i, columns.packed);
    }
  }
  __device__ float operator()(int pack, int j) const {
    return static_cast<float>(packs[pack].v[j]);
  }
};

/// gamma or beta: fp32 or of type T, or `otherwise` where there is none.
template <class T>
struct Weights {
  const void* data;
  bool wide;  // fp32
  float offset, otherwise;

  Weights(const In& view, float offset_, float otherwise_)
      : data(view.data), wide(view.dtype == DType::f32), offset(offset_), otherwise(otherwise_) {
    MPITRON_CHECK(!view || wide || view.dtype == element_dtype<T>(), name_of(view.dtype));
  }
  bool fits_packs() const {
    return wide ? packs_fit(static_cast<const float*>(data))
                : packs_fit(static_cast<const T*>(data));
  }
  __device__ Floats<kPack> operator()(Index i, Index left, bool packed) const {
    Floats<kPack> w;
    if (data == nullptr) {
      for (int j = 0; j < kPack; ++j) {
        w[j] = otherwise;
      }
    } else if (wide) {
      w = widen(load_part(static_cast<const float*>(data) + i, left, packed));
    } else {
      w = widen(load_part(static_cast<const T*>(data) + i, left, packed));
    }
    return w;
  }

 private:
  template <class E>
  __device__ Floats<kPack> widen(const Raw<E, kPack>& raw) const {
    Floats<kPack> w;
    for (int j = 0; j < kPack; ++j) {
      w[j] = static_cast<float>(raw.v[j]) + offset;
    }
    return w;
  }
};

/// Threads along a row and rows side by side.
dim3 block_of(Index h, unsigned threads) {
  unsigned x = kWarp;
  while (x < kMostThreads && x * kColumnsOfThread < h) {
    x += x < 4 * kWarp ? kWarp : 4 * kWarp;
  }
  return {x, std::max(1u, threads / x)};
}

/// Calls f<X, Y>(): of one type, or one of the two fp32.
template <class F>
void visit_norm_types(DType x, DType y, F&& f) {
  visit_element(x, [&]<class X>() {
    visit_element(y, [&]<class Y>() {
      if constexpr (std::is_same_v<X, Y> || std::is_same_v<X, float> || std::is_same_v<Y, float>) {
        f.template operator()<X, Y>();
      } else {
        MPITRON_CHECK(x == y, name_of(x), name_of(y));
      }
    });
  });
}

// ---------------------------------------------------------------------------------------------
// forward

/// Both norms: without `mean` the plain RMS norm.
template <class X, class Y>
struct Forward {
  Rows<const X> x;
  Rows<Y> y;
  Weights<Y> gamma, beta;
  float *mean, *rstd;
  Index rows;
  Columns columns;
  float eps;
};

template <class X, class Y>
__global__ __launch_bounds__(kMostThreads) void norm_rows(const __grid_constant__ Forward<X, Y> a) {
  __shared__ float partial[kMostWarps];
  const Columns& columns = a.columns;
  const auto width = static_cast<float>(columns.h);
  const Index step = static_cast<Index>(gridDim.x) * blockDim.y;
  for (Index first = static_cast<Index>(blockIdx.x) * blockDim.y; first < a.rows; first += step) {
    const bool inside = first + threadIdx.y < a.rows;
    const Index row = inside ? first + threadIdx.y : first;  // else a twin that writes nothing
    const X* x = a.x[row];
    RowPart<X> part;
    float mean = 0;
    if (a.mean != nullptr) {
      float sum = 0;
      columns.for_chunks([&](Index begin) {
        part.load(x, columns, begin);
#pragma unroll
        for (int pack = 0; pack < kPacks; ++pack) {
          for (int j = 0; j < kPack; ++j) {
            sum += part(pack, j);
          }
        }
      });
      mean = block_sum(sum, partial) / width;
    }
    float squares = 0;
    columns.for_chunks([&](Index begin) {
      part.load(x, columns, begin);
      columns.for_packs(begin, [&](int pack, Index, Index left) {
        for (int j = 0; j < kPack; ++j) {
          const float d = j < left ? part(pack, j) - mean : 0;
          squares += d * d;
        }
      });
    });
    const float rstd = 1 / sqrtf(block_sum(squares, partial) / width + a.eps);
    if (inside) {
      if (threadIdx.x == 0) {
        a.rstd[row] = rstd;
        if (a.mean != nullptr) {
          a.mean[row] = mean;
        }
      }
      Y* y = a.y[row];
      columns.for_chunks([&](Index begin) {
        part.load(x, columns, begin);
        columns.for_packs(begin, [&](int pack, Index i, Index left) {
          Floats<kPack> result = a.gamma(i, left, columns.packed);
          const Floats<kPack> shift = a.beta(i, left, columns.packed);
          for (int j = 0; j < kPack; ++j) {
            result[j] = (part(pack, j) - mean) * rstd * result[j] + shift[j];
          }
          store_part(y + i, result, left, columns.packed);
        });
      });
    }
  }
}

/// K: RmsNormForward or LayerNormForward.
template <class K>
void forward(device::CudaStream& stream, const K& k, const In& beta, float* mean) {
  const Index rows = row_count(k.x), h = k.x.size(-1);
  if (rows == 0) {
    return;
  }
  visit_norm_types(k.x.dtype, k.y.dtype, [&]<class X, class Y>() {
    const Rows<const X> x = rows_of<X>(k.x);
    const Rows<Y> y = rows_of<Y>(k.y);
    const Weights<Y> gamma(k.gamma, k.gamma_offset, 1), shift(beta, 0, 0);
    const bool packed = all_packed(x, y) && gamma.fits_packs() && shift.fits_packs();
    const dim3 block = block_of(h, kThreads);
    launch(stream, K::name, {blocks_for(rows, block.y), block}, norm_rows<X, Y>,
           Forward<X, Y>{
               x, y, gamma, shift, mean, k.rstd.template as<float>(), rows, {h, packed}, k.eps});
  });
}

// ---------------------------------------------------------------------------------------------
// backward

/// What the sums of a block may take of shared memory; wider ones stay in the workspace.
constexpr Index kSharedBytes = Index{128} << 10;
constexpr unsigned kBackwardThreads = 128;

/// How rows become dgamma and dbeta, by t and h alone: workers add rows_of_worker rows each; their
/// sums are small beside what they read.
struct Work {
  Index rows_of_worker, workers;
  Index width, stride;  // floats of dgamma, of a worker

  Work(Index t, Index h, bool centred) {
    constexpr Index kSums = 1 << 21, kMostWorkers = 2048, kLeastRows = 8;
    const Index wanted = std::clamp(kSums / std::max<Index>(h, 1), Index{1}, kMostWorkers);
    rows_of_worker = std::max(kLeastRows, (t + wanted - 1) / wanted);
    workers = (t + rows_of_worker - 1) / rows_of_worker;
    width = (h + kPack - 1) / kPack * kPack;
    stride = centred ? 2 * width : width;
  }
  Index bytes() const { return workers * stride * static_cast<Index>(sizeof(float)); }
};

/// Both norms: without `mean` the RMS norm.
template <class X, class Y>
struct Backward {
  Rows<const X> x, add;
  Rows<const Y> dy;
  Rows<X> dx;
  Weights<Y> gamma;
  const float *mean, *rstd;
  float* partials;  // [workers, dgamma and, with mean, dbeta]; or null
  bool shared;      // sums are in shared memory until the last row
  Index rows;
  Columns columns;
  Work work;
};

/// What a worker adds up: dgamma and, where centred, dbeta; every thread its columns.
struct WorkerSums {
  float *sums, *dbeta;  // null: nobody wants them

  /// Of a pack from column i.
  __device__ void add(Index i, const Floats<kPack>& of_gamma, const Floats<kPack>& of_beta) const {
    if (sums != nullptr) {
      store(sums + i, each(Sum{}, load(sums + i, Width<kPack>()), of_gamma));
    }
    if (dbeta != nullptr) {
      store(dbeta + i, each(Sum{}, load(dbeta + i, Width<kPack>()), of_beta));
    }
  }
  __device__ void clear(Index i) const {
    if (sums != nullptr) {
      store(sums + i, Floats<kPack>{});
    }
    if (dbeta != nullptr) {
      store(dbeta + i, Floats<kPack>{});
    }
  }
};

template <class X, class Y>
__global__ __launch_bounds__(kMostThreads) void norm_backward_rows(
    const __grid_constant__ Backward<X, Y> a) {
  __shared__ float partial[kMostWarps];
  const Columns& columns = a.columns;
  const auto h = static_cast<float>(columns.h);
  const bool centred = a.mean != nullptr;
  const Index worker = static_cast<Index>(blockIdx.x) * blockDim.y + threadIdx.y;
  const bool works = worker < a.work.workers;

  float* const saved =
      works && a.partials != nullptr ? a.partials + worker * a.work.stride : nullptr;
  float* const sums =
      saved != nullptr && a.shared ? dynamic_shared<float>() + threadIdx.y * a.work.stride : saved;
  const WorkerSums total{sums, sums != nullptr && centred ? sums + a.work.width : nullptr};
  const auto for_own = [&](auto&& body) {
    columns.for_chunks(
        [&](Index begin) { columns.for_packs(begin, [&](int, Index i, Index) { body(i); }); });
  };
  for_own([&](Index i) { total.clear(i); });

  for (Index i = 0; i < a.work.rows_of_worker; ++i) {
    const Index own = worker * a.work.rows_of_worker + i;
    const bool inside = works && own < a.rows;
    const Index row = inside ? own : 0;  // else computes what nobody uses, to reach the barriers
    const float rstd = a.rstd[row], mean = centred ? a.mean[row] : 0;
    RowPart<X> x;
    RowPart<Y> dy;
    const auto load_rows = [&](Index begin) {
      x.load(a.x[row], columns, begin);
      dy.load(a.dy[row], columns, begin);
    };
    const auto normal = [&](int pack, int j) { return (x(pack, j) - mean) * rstd; };
    float dot = 0, sum = 0;
    columns.for_chunks([&](Index begin) {
      load_rows(begin);
      columns.for_packs(begin, [&](int pack, Index column, Index left) {
        const Floats<kPack> gamma = a.gamma(column, left, columns.packed);
        Floats<kPack> of_gamma, of_beta;
        for (int j = 0; j < kPack; ++j) {
          of_beta[j] = dy(pack, j);
          of_gamma[j] = of_beta[j] * normal(pack, j);
          sum += of_beta[j] * gamma[j];
          dot += of_gamma[j] * gamma[j];
        }
        if (inside) {
          total.add(column, of_gamma, of_beta);
        }
      });
    });
    const float mean_dot = block_sum(dot, partial) / h;
    const float mean_sum = centred ? block_sum(sum, partial) / h : 0;
    if (inside) {
      columns.for_chunks([&](Index begin) {
        load_rows(begin);
        columns.for_packs(begin, [&](int pack, Index column, Index left) {
          Floats<kPack> dx = a.gamma(column, left, columns.packed);
          for (int j = 0; j < kPack; ++j) {
            dx[j] = rstd * (dy(pack, j) * dx[j] - mean_sum - normal(pack, j) * mean_dot);
          }
          if (a.add) {
            const Raw<X, kPack> add = load_part(a.add[row] + column, left, columns.packed);
            for (int j = 0; j < kPack; ++j) {
              dx[j] += static_cast<float>(add.v[j]);
            }
          }
          store_part(a.dx[row] + column, dx, left, columns.packed);
        });
      });
    }
  }
  if (sums != saved) {
    for_own([&](Index i) {
      store(saved + i, load(sums + i, Width<kPack>()));
      if (centred) {
        store(saved + a.work.width + i, load(total.dbeta + i, Width<kPack>()));
      }
    });
  }
}

/// K: RmsNormBackward or LayerNormBackward.
template <class K>
void backward(device::CudaStream& stream, const K& k, const float* mean) {
  const Index rows = row_count(k.x), h = k.x.size(-1);
  const Work work(rows, h, mean != nullptr);
  if (rows == 0) {
    return;
  }
  MPITRON_CHECK(!k.dgamma || k.workspace.bytes() >= work.bytes(), k.workspace.bytes());
  visit_norm_types(k.x.dtype, k.dy.dtype, [&]<class X, class Y>() {
    const Rows<const X> x = rows_of<X>(k.x), add = rows_of<X>(k.dx_add);
    const Rows<const Y> dy = rows_of<Y>(k.dy);
    const Rows<X> dx = rows_of<X>(k.dx);
    const Weights<Y> gamma(k.gamma, k.gamma_offset, 1);
    const bool packed = all_packed(x, add, dy, dx) && gamma.fits_packs();
    const dim3 block = block_of(h, kBackwardThreads);
    const Index bytes = block.y * work.stride * static_cast<Index>(sizeof(float));
    const bool shared = k.dgamma && bytes <= kSharedBytes;
    launch(stream, K::name,
           {blocks_for(work.workers, block.y), block, shared ? static_cast<std::size_t>(bytes) : 0},
           norm_backward_rows<X, Y>,
           Backward<X, Y>{x,
                          add,
                          dy,
                          dx,
                          gamma,
                          mean,
                          k.rstd.template as<float>(),
                          k.dgamma ? static_cast<float*>(k.workspace.data) : nullptr,
                          shared,
                          rows,
                          {h, packed},
                          work});
  });
}

}  // namespace

void run(device::CudaStream& stream, const RmsNormForward& k) {
  forward(stream, k, In{}, nullptr);
}

void run(device::CudaStream& stream, const LayerNormForward& k) {
  forward(stream, k, k.beta, k.mean.as<float>());
}

void run(device::CudaStream& stream, const RmsNormBackward& k) {
  backward(stream, k, nullptr);
  if (k.dgamma) {
    const Work work(row_count(k.x), k.x.size(-1), false);
    const auto* sums = static_cast<const float*>(k.workspace.data);
    add_partials(stream, k.name, {sums, work.workers, work.stride}, k.dgamma, k.accumulate);
  }
}

void run(device::CudaStream& stream, const LayerNormBackward& k) {
  backward(stream, k, k.mean.as<float>());
  const Work work(row_count(k.x), k.x.size(-1), true);
  const auto* sums = static_cast<const float*>(k.workspace.data);
  add_partials(stream, k.name, {sums, work.workers, work.stride}, k.dgamma, k.accumulate);
  add_partials(stream, k.name, {sums + work.width, work.workers, work.stride}, k.dbeta,
               k.accumulate);
}

Index workspace_bytes(const device::CudaStream&, const RmsNormBackward& k) {
  return k.dgamma ? Work(row_count(k.x), k.x.size(-1), false).bytes() : 0;
}

Index workspace_bytes(const device::CudaStream&, const LayerNormBackward& k) {
  return Work(row_count(k.x), k.x.size(-1), true).bytes();
}

}  // namespace mpitron::kernels

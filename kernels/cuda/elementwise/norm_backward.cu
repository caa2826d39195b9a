// Numerical contract: that of norm.h. A row belongs to the threads of one threadIdx.y; they
// hold it in registers (up to 16384 columns; longer ones are read again) and sum it in fp32 in a
// fixed order; of rows of whole packs of 2-byte numbers, up to 4096 columns, a thread has one.
// dgamma and dbeta: each worker adds its rows in order, then workers are added in the order of
// column_sums.cuh.
#include "intrinsics.cuh"
#include "kernels/cuda/common/column_sums.cuh"
#include "kernels/cuda/elementwise/norm_rows.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;
using namespace cuda::norm;

/// What the sums of a block may take of shared memory; wider ones stay in the workspace.
constexpr Index kSharedBytes = Index{128} << 10;
constexpr unsigned kBackwardThreads = 128;
/// The most threads of a block of norm_backward_narrow, of which a multiprocessor has two at once:
/// so the compiler has 80 registers for each where there is a dbeta, else 64.
constexpr unsigned narrow_threads(bool centred) {
  return centred ? 384 : 512;
}

/// Divides t rows among workers that each make a dgamma and dbeta, by t and h alone: workers add
/// rows_of_worker rows each; their sums are small beside what they read.
struct Work {
  Index rows_of_worker, workers;
  Index width, stride;  // floats of dgamma, of a worker

  Work(Index t, Index h, bool centred) {
    constexpr Index kSums = 1 << 21, kMostWorkers = 2048, kLeastRows = 8;
    const unsigned most = narrow_threads(centred);
    const Index wanted =
        h <= Index{most} * kPack
            ? kProcessors * 2 * most / block_of(h, kBackwardThreads, kPack).x  // all at once
            : std::clamp(kSums / h, Index{1}, kMostWorkers);
    rows_of_worker = std::max(kLeastRows, (t + wanted - 1) / wanted);
    workers = (t + rows_of_worker - 1) / rows_of_worker;
    width = (h + kPack - 1) / kPack * kPack;
    stride = centred ? 2 * width : width;
  }
  Index bytes() const { return workers * stride * static_cast<Index>(sizeof(float)); }
};

/// Arguments of both norms: without `mean` the RMS norm.
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

/// Sums of a worker: dgamma and, where centred, dbeta; every thread its columns.
struct WorkerSums {
  float *sums, *dbeta;  // null: nobody wants them

  /// Adds a pack from column i.
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

/// Goes over rows as a grid of workers. A row's packs stay in registers between its sums and its
/// results where they fit; dgamma and dbeta are added where the worker's sums lie.
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
            const auto add = floats(load_some(a.add[row] + column, left, columns.packed));
            dx = each(Sum{}, dx, add);
          }
          store_some(a.dx[row] + column, left, columns.packed, rounded<X>(dx));
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

/// A thread's pack of a narrow row, as it is stored; zeros where there is no such row.
template <class X, class Y>
struct NarrowPart {
  Raw<X, kPack> x{}, add{};
  Raw<Y, kPack> dy{};
  float rstd = 0, mean = 0;

  __device__ NarrowPart(const Backward<X, Y>& a, Index row, Index i) {
    if (row >= a.rows || i >= a.columns.h) {
      return;
    }
    x = load_raw(a.x[row] + i, Width<kPack>());
    dy = load_raw(a.dy[row] + i, Width<kPack>());
    if (a.add) {
      add = load_raw(a.add[row] + i, Width<kPack>());
    }
    rstd = a.rstd[row];
    mean = a.mean != nullptr ? a.mean[row] : 0;
  }
};

/// The same for rows of which a thread has one pack: it has gamma and its sums at hand, and the
/// next row is on its way while one is summed.
template <class X, class Y, bool kCentred>
__global__ __launch_bounds__(narrow_threads(kCentred), 2) void norm_backward_narrow(
    const __grid_constant__ Backward<X, Y> a) {
  constexpr int kSums = kCentred ? 2 : 1;
  __shared__ float partial[2][kSums * kMostWarps];
  const auto h = static_cast<float>(a.columns.h);
  const Index i = static_cast<Index>(threadIdx.x) * kPack;
  const bool has_pack = i < a.columns.h;
  const Index worker = static_cast<Index>(blockIdx.x) * blockDim.y + threadIdx.y;
  const Index first = worker * a.work.rows_of_worker;
  const Floats<kPack> gamma = has_pack ? a.gamma(i, kPack, true) : Floats<kPack>{};
  Floats<kPack> dgamma{}, dbeta{};
  NarrowPart<X, Y> next(a, first, i);
  for (Index n = 0; n < a.work.rows_of_worker; ++n) {
    const float rstd = next.rstd, mean = next.mean;
    const Floats<kPack> dy = floats(next.dy);
    const Floats<kPack> normal = each([&](float x) { return (x - mean) * rstd; }, floats(next.x));
    const Raw<X, kPack> add = next.add;
    if (n + 1 < a.work.rows_of_worker) {
      next = NarrowPart<X, Y>(a, first + n + 1, i);
    }
    Floats<kSums> sums{};
    for (int j = 0; j < kPack; ++j) {
      sums[0] += dy[j] * normal[j] * gamma[j];
      dgamma[j] += dy[j] * normal[j];
      if constexpr (kCentred) {
        sums[1] += dy[j] * gamma[j];
        dbeta[j] += dy[j];
      }
    }
    const Floats<kSums> means =
        each([h](float sum) { return sum / h; }, row_sums(sums, partial[n % 2]));
    if (first + n < a.rows && has_pack) {
      Floats<kPack> dx = floats(add);
      for (int j = 0; j < kPack; ++j) {
        const float centre = kCentred ? means[kSums - 1] : 0;
        dx[j] += rstd * (dy[j] * gamma[j] - centre - normal[j] * means[0]);
      }
      store(a.dx[first + n] + i, dx);
    }
  }
  if (a.partials != nullptr && worker < a.work.workers && has_pack) {
    float* const saved = a.partials + worker * a.work.stride + i;
    store(saved, dgamma);
    if constexpr (kCentred) {
      store(saved + a.work.width, dbeta);
    }
  }
}

/// Launches the rows of K, RmsNormBackward or LayerNormBackward; the callers add the workers' sums
/// behind it.
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
    const bool narrow = is_narrow<X>({h, packed}, narrow_threads(mean != nullptr));
    const dim3 block =
        narrow ? block_of(h, kBackwardThreads, kPack) : block_of(h, kBackwardThreads);
    const auto kernel = !narrow           ? norm_backward_rows<X, Y>
                        : mean == nullptr ? norm_backward_narrow<X, Y, false>
                                          : norm_backward_narrow<X, Y, true>;
    const Index bytes = block.y * work.stride * static_cast<Index>(sizeof(float));
    const bool shared = !narrow && k.dgamma && bytes <= kSharedBytes;
    launch(stream, K::name,
           {blocks_for(work.workers, block.y), block, shared ? static_cast<std::size_t>(bytes) : 0},
           kernel,
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

void run(device::CudaStream& stream, const RmsNormBackward& k) {
  backward(stream, k, nullptr);
  if (k.dgamma) {
    const Work work(row_count(k.x), k.x.size(-1), false);
    const auto* sums = static_cast<const float*>(k.workspace.data);
    add_partials(stream, k.name, {sums, work.workers, work.stride}, k.accumulate, k.dgamma);
  }
}

void run(device::CudaStream& stream, const LayerNormBackward& k) {
  backward(stream, k, k.mean.as<float>());
  const Work work(row_count(k.x), k.x.size(-1), true);
  const auto* sums = static_cast<const float*>(k.workspace.data);
  add_partials(stream, k.name, {sums, work.workers, work.stride, work.width}, k.accumulate,
               k.dgamma, k.dbeta);
}

Index workspace_bytes(const device::CudaStream&, const RmsNormBackward& k) {
  return k.dgamma ? Work(row_count(k.x), k.x.size(-1), false).bytes() : 0;
}

Index workspace_bytes(const device::CudaStream&, const LayerNormBackward& k) {
  return Work(row_count(k.x), k.x.size(-1), true).bytes();
}

}  // namespace mpitron::kernels

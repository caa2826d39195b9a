// Numerical contract: that of norm.h. A row belongs to the threads of one threadIdx.y; they
// hold it in registers (up to 16384 columns; longer ones are read again) and sum it in fp32 in a
// fixed order. Of rows of whole packs of 2-byte numbers, 1024 to 4096 columns, a thread has one.
#include "kernels/cuda/elementwise/norm_rows.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;
using namespace cuda::norm;

/// Shorter rows of one pack a thread leave too little in flight.
constexpr Index kLeastNarrow = 1024;

/// Arguments of both norms: without `mean` the plain RMS norm.
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

/// Normalises rows: statistics first (mean and squares around it), then results, from the same
/// registers where a row fits them.
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
          store_some(y + i, left, columns.packed, rounded<Y>(result));
        });
      });
    }
  }
}

/// The same for rows of which a thread has one pack: it has gamma and beta at hand, and the next
/// row is on its way while one is summed.
template <class X, class Y>
__global__ __launch_bounds__(kMostThreads,
                             2) void norm_narrow_rows(const __grid_constant__ Forward<X, Y> a) {
  __shared__ float partial[2][kMostWarps];
  int turn = 0;
  const auto width = static_cast<float>(a.columns.h);
  const Index i = static_cast<Index>(threadIdx.x) * kPack;
  const bool has_pack = i < a.columns.h;
  Floats<kPack> gamma{}, beta{};
  if (has_pack) {
    gamma = a.gamma(i, kPack, true);
    beta = a.beta(i, kPack, true);
  }
  const auto pack_of = [&](Index row) {
    return has_pack && row < a.rows ? load_raw(a.x[row] + i, Width<kPack>()) : Raw<X, kPack>{};
  };
  const auto sum_of = [&](float value) {
    turn ^= 1;
    return row_sums(Floats<1>{value}, partial[turn])[0];
  };
  const Index step = static_cast<Index>(gridDim.x) * blockDim.y;
  Index first = static_cast<Index>(blockIdx.x) * blockDim.y;
  for (auto next = pack_of(first + threadIdx.y); first < a.rows; first += step) {
    const Index row = first + threadIdx.y;
    Floats<kPack> x = floats(next);
    next = pack_of(row + step);
    float mean = 0, squares = 0;
    if (a.mean != nullptr) {
      float sum = 0;
      for (const float v : x.v) {
        sum += v;
      }
      mean = sum_of(sum) / width;
    }
    for (float& v : x.v) {
      v = has_pack ? v - mean : 0;
      squares += v * v;
    }
    const float rstd = 1 / sqrtf(sum_of(squares) / width + a.eps);
    if (row >= a.rows || !has_pack) {
      continue;
    }
    if (threadIdx.x == 0) {
      a.rstd[row] = rstd;
      if (a.mean != nullptr) {
        a.mean[row] = mean;
      }
    }
    for (int j = 0; j < kPack; ++j) {
      x[j] = x[j] * rstd * gamma[j] + beta[j];
    }
    store(a.y[row] + i, x);
  }
}

/// Launches the rows of K, RmsNormForward or LayerNormForward.
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
    const bool narrow = h >= kLeastNarrow && is_narrow<X>({h, packed}, kMostThreads);
    const dim3 block = narrow ? block_of(h, kThreads, kPack) : block_of(h, kThreads);
    // Narrow rows: the blocks that are there at once, so that none has its first load to wait for.
    const auto resident = static_cast<unsigned>(kProcessors * 1024 / (block.x * block.y));
    const unsigned blocks = blocks_for(rows, block.y);
    launch(stream, K::name, {narrow ? std::min(blocks, resident) : blocks, block},
           narrow ? norm_narrow_rows<X, Y> : norm_rows<X, Y>,
           Forward<X, Y>{
               x, y, gamma, shift, mean, k.rstd.template as<float>(), rows, {h, packed}, k.eps});
  });
}

}  // namespace

void run(device::CudaStream& stream, const RmsNormForward& k) {
  forward(stream, k, In{}, nullptr);
}

void run(device::CudaStream& stream, const LayerNormForward& k) {
  forward(stream, k, k.beta, k.mean.as<float>());
}

}  // namespace mpitron::kernels

// Numerical contract: that of gated_norm.h. A group of a row belongs to the threads of one
// threadIdx.y, which hold it in registers (up to 16384 columns; longer ones are read again) and sum
// it in fp32 in a fixed order. dweight: each worker adds its rows in order, then workers are added
// as add_partials does.
#include "intrinsics.cuh"
#include "kernels/cuda/common/any_elements.cuh"
#include "kernels/cuda/common/column_sums.cuh"
#include "kernels/cuda/elementwise/activation_math.cuh"
#include "kernels/cuda/elementwise/norm_rows.cuh"
#include "kernels/state_space/gated_norm.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;
using namespace cuda::norm;

/// The groups of rows, counted by rows, then groups.
struct Groups {
  Index rows, count, width;  // count: of a row

  template <class K>
  explicit Groups(const K& k)
      : rows(row_count(k.x)), count(k.groups), width(k.x.size(-1) / k.groups) {}
  constexpr Index all() const { return rows * count; }
};

/// The pack of `left` weights from i on.
__device__ Floats<kPack> weights_at(const Numbers& weight, Index i, Index left, bool packed) {
  if (packed && left >= kPack) {
    return weight.load(i, Width<kPack>());
  }
  Floats<kPack> w{};
  for (int j = 0; j < kPack && j < left; ++j) {
    w[j] = weight.load(i + j, Width<1>())[0];
  }
  return w;
}

/// A thread's part of x and z, and what is normed of it.
template <class T>
struct GatedPart {
  RowPart<T> x, z;
  bool gate_first;

  __device__ void load(const T* xs, const T* zs, const Columns& columns, Index begin) {
    x.load(xs, columns, begin), z.load(zs, columns, begin);
  }
  __device__ float silu(int pack, int j) const { return z(pack, j) * sigmoid(z(pack, j)); }
  __device__ float normed(int pack, int j) const {
    return gate_first ? static_cast<float>(static_cast<T>(x(pack, j) * silu(pack, j))) : x(pack, j);
  }
};

template <class T>
struct Forward {
  Rows<const T> x, z;
  Numbers weight;
  Rows<T> y;
  float* rstd;
  Groups groups;
  Columns columns;  // of a group
  float eps;
  bool gate_first;
};

/// The sum of a group's squares first, then its results, from the same registers where it fits.
template <class T>
__global__ __launch_bounds__(kMostThreads) void gated_norm(const __grid_constant__ Forward<T> a) {
  __shared__ float partial[kMostWarps];
  const Columns& columns = a.columns;
  const Index all = a.groups.all(), step = static_cast<Index>(gridDim.x) * blockDim.y;
  for (Index first = static_cast<Index>(blockIdx.x) * blockDim.y; first < all; first += step) {
    const bool inside = first + threadIdx.y < all;
    const Index task = inside ? first + threadIdx.y : first;  // else a twin that writes nothing
    const Index row = quotient(task, a.groups.count);
    const Index start = (task - row * a.groups.count) * a.groups.width;
    GatedPart<T> part{{}, {}, a.gate_first};
    const auto load_part = [&](Index begin) {
      part.load(a.x[row] + start, a.z[row] + start, columns, begin);
    };
    float squares = 0;
    columns.for_chunks([&](Index begin) {
      load_part(begin);
      columns.for_packs(begin, [&](int pack, Index, Index) {
        for (int j = 0; j < kPack; ++j) {
          const float value = part.normed(pack, j);
          squares += value * value;
        }
      });
    });
    const auto width = static_cast<float>(columns.h);
    const float rstd = 1 / sqrtf(block_sum(squares, partial) / width + a.eps);
    if (!inside) {
      continue;
    }
    if (threadIdx.x == 0) {
      a.rstd[task] = rstd;
    }
    T* const y = a.y[row] + start;
    columns.for_chunks([&](Index begin) {
      load_part(begin);
      columns.for_packs(begin, [&](int pack, Index i, Index left) {
        Floats<kPack> result = weights_at(a.weight, start + i, left, columns.packed);
        for (int j = 0; j < kPack; ++j) {
          const float gate = a.gate_first ? 1 : part.silu(pack, j);
          result[j] *= part.normed(pack, j) * rstd * gate;
        }
        store_some(y + i, left, columns.packed, rounded<T>(result));
      });
    });
  }
}

/// Divides t rows among workers that each make a dweight, by the shape alone: their sums are small
/// beside what they read.
struct Work {
  Index rows_of_worker, workers;

  Work(Index t, Index f) {
    constexpr Index kSums = 1 << 21, kMostWorkers = 2048, kLeastRows = 8;
    const Index wanted = std::clamp(kSums / std::max<Index>(f, 1), Index{1}, kMostWorkers);
    rows_of_worker = std::max(kLeastRows, (t + wanted - 1) / wanted);
    workers = (t + rows_of_worker - 1) / rows_of_worker;
  }
};

template <class T>
struct Backward {
  Rows<const T> x, z, dy;
  Numbers weight;
  const float* rstd;
  Rows<T> dx, dz;
  float* partials;  // [workers, f]
  Groups groups;
  Columns columns;  // of a group
  Work work;
  bool shared;  // sums are in shared memory until the last row
  bool gate_first;
};

struct Element {
  float x, z, dy, weight, normal;
};
/// Gradients of x and z.
struct Gradients {
  float x, z;
};
__device__ Gradients gradients_of(const Element& e, bool gate_first, float mean, float rstd) {
  const float open = sigmoid(e.z), silu = e.z * open, slope = open * (1 + e.z * (1 - open));
  const float upstream = gate_first ? e.dy : e.dy * silu;
  const float inner = rstd * (upstream * e.weight - e.normal * mean);
  return gate_first ? Gradients{inner * silu, inner * e.x * slope}
                    : Gradients{inner, e.dy * e.normal * e.weight * slope};
}

/// A worker's rows of one group: the sum over a group first, then its gradients.
template <class T>
__global__ __launch_bounds__(kMostThreads) void gated_norm_backward(
    const __grid_constant__ Backward<T> a) {
  __shared__ float partial[kMostWarps];
  const Columns& columns = a.columns;
  const Index slot = static_cast<Index>(blockIdx.x) * blockDim.y + threadIdx.y;
  const Index worker = quotient(slot, a.groups.count), group = slot - worker * a.groups.count;
  const bool works = worker < a.work.workers;
  const Index width = a.groups.width, start = group * width;
  float* const saved = a.partials + (works ? worker : 0) * a.groups.count * width + start;
  const Index room = (width + kPack - 1) / kPack * kPack;
  float* const sums = a.shared ? dynamic_shared<float>() + threadIdx.y * room : saved;
  const auto for_own = [&](auto&& body) {
    columns.for_chunks([&](Index begin) {
      columns.for_packs(begin, [&](int, Index i, Index left) { body(i, left); });
    });
  };
  if (works) {
    for_own([&](Index i, Index left) {
      store_some(sums + i, left, columns.packed, rounded<float>(Floats<kPack>{}));
    });
  }
  for (Index i = 0; i < a.work.rows_of_worker; ++i) {
    const Index own = worker * a.work.rows_of_worker + i;
    const bool inside = works && own < a.groups.rows;
    const Index row = inside ? own : 0;  // else computes what nobody uses, to reach the barriers
    const float rstd = a.rstd[row * a.groups.count + group];
    GatedPart<T> part{{}, {}, a.gate_first};
    RowPart<T> dy;
    const auto load_parts = [&](Index begin) {
      part.load(a.x[row] + start, a.z[row] + start, columns, begin);
      dy.load(a.dy[row] + start, columns, begin);
    };
    float dot = 0;
    columns.for_chunks([&](Index begin) {
      load_parts(begin);
      columns.for_packs(begin, [&](int pack, Index column, Index left) {
        const auto weight = weights_at(a.weight, start + column, left, columns.packed);
        Floats<kPack> sum{};
        for (int j = 0; j < kPack; ++j) {
          const float upstream = dy(pack, j) * (a.gate_first ? 1 : part.silu(pack, j));
          sum[j] = upstream * part.normed(pack, j) * rstd;
          dot += sum[j] * weight[j];
        }
        if (inside) {
          const auto before = floats(load_some(sums + column, left, columns.packed));
          store_some(sums + column, left, columns.packed, rounded<float>(each(Sum{}, before, sum)));
        }
      });
    });
    const float mean = block_sum(dot, partial) / static_cast<float>(columns.h);
    if (!inside) {
      continue;
    }
    columns.for_chunks([&](Index begin) {
      load_parts(begin);
      columns.for_packs(begin, [&](int pack, Index column, Index left) {
        Floats<kPack> dx = weights_at(a.weight, start + column, left, columns.packed), dz;
        for (int j = 0; j < kPack; ++j) {
          const Gradients g = gradients_of(
              {part.x(pack, j), part.z(pack, j), dy(pack, j), dx[j], part.normed(pack, j) * rstd},
              a.gate_first, mean, rstd);
          dx[j] = g.x, dz[j] = g.z;
        }
        store_some(a.dx[row] + start + column, left, columns.packed, rounded<T>(dx));
        store_some(a.dz[row] + start + column, left, columns.packed, rounded<T>(dz));
      });
    });
  }
  if (works && a.shared) {
    for_own([&](Index i, Index left) {
      store_some(saved + i, left, columns.packed, load_some(sums + i, left, columns.packed));
    });
  }
}

}  // namespace

void run(device::CudaStream& stream, const GatedNormForward& k) {
  const Groups groups(k);
  if (groups.all() == 0) {
    return;
  }
  visit_element(k.x.dtype, [&]<class T>() {
    const auto x = rows_of<T>(k.x), z = rows_of<T>(k.z);
    const auto y = rows_of<T>(k.y);
    const Numbers weight(k.weight);
    const bool packed = groups.width % kPack == 0 && all_packed(x, z, y) && weight.fits_packs();
    const dim3 block = block_of(groups.width, kThreads);
    launch(stream, k.name, {blocks_for(groups.all(), block.y), block}, gated_norm<T>,
           Forward<T>{x,
                      z,
                      weight,
                      y,
                      k.rstd.as<float>(),
                      groups,
                      {groups.width, packed},
                      k.eps,
                      k.gate_first});
  });
}

void run(device::CudaStream& stream, const GatedNormBackward& k) {
  constexpr Index kSharedBytes = Index{128} << 10;
  constexpr unsigned kBackwardThreads = 128;
  const Groups groups(k);
  const Index f = k.x.size(-1);
  const Work work(groups.rows, f);
  MPITRON_CHECK(k.workspace.bytes() >= workspace_bytes(stream, k), k.workspace.bytes());
  auto* const partials = static_cast<float*>(k.workspace.data);
  if (groups.all() > 0) {
    visit_element(k.x.dtype, [&]<class T>() {
      const auto x = rows_of<T>(k.x), z = rows_of<T>(k.z), dy = rows_of<T>(k.dy);
      const auto dx = rows_of<T>(k.dx), dz = rows_of<T>(k.dz);
      const Numbers weight(k.weight);
      const bool packed = groups.width % kPack == 0 && all_packed(x, z, dy, dx, dz) &&
                          weight.fits_packs() && packs_fit(partials);
      const dim3 block = block_of(groups.width, kBackwardThreads);
      const Index room = (groups.width + kPack - 1) / kPack * kPack;
      const Index bytes = block.y * room * static_cast<Index>(sizeof(float));
      const bool shared = bytes <= kSharedBytes;
      launch(stream, k.name,
             {static_cast<unsigned>((work.workers * groups.count + block.y - 1) / block.y), block,
              shared ? static_cast<std::size_t>(bytes) : 0},
             gated_norm_backward<T>,
             Backward<T>{x,
                         z,
                         dy,
                         weight,
                         k.rstd.as<float>(),
                         dx,
                         dz,
                         partials,
                         groups,
                         {groups.width, packed},
                         work,
                         shared,
                         k.gate_first});
    });
  }
  add_partials(stream, k.name, {partials, work.workers, f}, k.accumulate, k.dweight);
}

Index workspace_bytes(const device::CudaStream&, const GatedNormBackward& k) {
  const Index f = k.x.size(-1);
  return Work(row_count(k.x), f).workers * f * static_cast<Index>(sizeof(float));
}

}  // namespace mpitron::kernels

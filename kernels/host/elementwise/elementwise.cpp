// Fills, casts, adds, scales and initialises tensors on the host. All of them are bound by memory:
// results that fit no cache are written past it (streaming stores), and tiles are shared out over
// threads.
#include "kernels/elementwise/elementwise.h"

#include "kernels/elementwise/normal_sample.h"
#include "kernels/host/common/fp64.h"
#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

/// Computes y[i] = value(i, lanes) for a contiguous y of n elements.
template <class T, class F>
void write_flat(T* y, Index n, bool streaming, F&& value) {
  for_ranges((n + kTile - 1) / kTile, n, [&](Index first_tile, Index last_tile) {
    const Index first = first_tile * kTile, count = std::min(n, last_tile * kTile) - first;
    with_store(streaming, [&](auto store) {
      simd::for_lanes(count, [&](Index i, auto lanes) {
        store(y + first + i, value(first + i, lanes), lanes);
      });
    });
  });
}

/// Whether a contiguous y is better written past the caches (row_blocks.h says when).
template <class T, class... Inputs>
bool streams_flat(const device::TensorView& y, const Inputs&... inputs) {
  const device::TensorView flat(y.data, y.dtype, {y.numel()});
  return should_stream(flat, Rows<T>(flat), inputs...);
}

/// Row numbers: few, so one thread copies them.
void copy_integers(const Cast& k) {
  const Rows<const std::int64_t> x(k.x);
  const Rows<std::int64_t> y(k.y);
  for (Index row = 0; row < row_count(k.x); ++row) {
    std::copy_n(x[row], k.x.size(-1), y[row]);
  }
}

/// Casts from or to fp64 by plain loops: only gradient checks need it.
void cast_fp64(const Cast& k) {
  visit_wide_dtype(k.x.dtype, [&]<class Tx>() {
    visit_wide_dtype(k.y.dtype, [&]<class Ty>() {
      const Rows<const Tx> x(k.x);
      const Rows<Ty> y(k.y);
      for_blocks(row_count(k.x), k.x.numel(), [&](Index row) {
        std::transform(x[row], x[row] + k.x.size(-1), y[row], converted<Ty, Tx>);
      });
    });
  });
}

}  // namespace

void run(device::HostStream&, const Fill& k) {
  if (run_fp64(k, k.x.dtype)) {
    return;
  }
  MPITRON_CHECK(k.x.contiguous(), to_string(k.x.shape));
  visit_dtype(k.x.dtype, [&]<class T>() {
    const Float value = simd::splat(k.value);
    write_flat(k.x.as<T>(), k.x.numel(), streams_flat<T>(k.x), [=](Index, auto) { return value; });
  });
}

void run(device::HostStream&, const Cast& k) {
  MPITRON_CHECK(k.x.shape == k.y.shape, to_string(k.x.shape), to_string(k.y.shape));
  if (k.x.dtype == DType::i64) {
    return copy_integers(k);
  }
  if (k.x.dtype == DType::f64 || k.y.dtype == DType::f64) {
    return cast_fp64(k);
  }
  visit_dtypes(k.x.dtype, k.y.dtype, [&]<class Tx, class Ty>() {
    const Rows<const Tx> x(k.x);
    const Rows<Ty> y(k.y);
    const bool streaming = should_stream(k.y, y, k.x);
    const auto cast = [&](auto store, const Tx* from, Ty* to, Index n) {
      simd::for_lanes(
          n, [&](Index i, auto lanes) { store(to + i, simd::load(from + i, lanes), lanes); });
    };
    for_tiles(row_count(k.x), k.x.size(-1), 1, streaming,
              [&](auto store, Index row, Index begin, Index end) {
                cast(store, x[row] + begin, y[row] + begin, end - begin);
              });
  });
}

void run(device::HostStream&, const Add& k) {
  if (run_fp64(k, k.b.dtype)) {
    return;
  }
  MPITRON_CHECK(k.a.contiguous() && k.b.contiguous() && k.y.contiguous(), to_string(k.y.shape));
  visit_dtypes(k.a.dtype, k.b.dtype, [&]<class Ta, class Tb>() {
    visit_dtype(k.y.dtype, [&]<class Ty>() {
      const Ta* a = k.a.as<Ta>();
      const Tb* b = k.b.as<Tb>();
      write_flat(
          k.y.as<Ty>(), k.y.numel(), streams_flat<Ty>(k.y, k.a, k.b),
          [=](Index i, auto lanes) { return simd::load(a + i, lanes) + simd::load(b + i, lanes); });
    });
  });
}

void run(device::HostStream&, const Scale& k) {
  MPITRON_CHECK(k.x.contiguous() && k.y.contiguous(), to_string(k.y.shape));
  visit_dtypes(k.x.dtype, k.y.dtype, [&]<class Tx, class Ty>() {
    const Tx* x = k.x.as<Tx>();
    write_flat(
        k.y.as<Ty>(), k.y.numel(), streams_flat<Ty>(k.y, k.x),
        [x, factor = k.factor](Index i, auto lanes) { return simd::load(x + i, lanes) * factor; });
  });
}

void run(device::HostStream&, const MovingAverage& k) {
  MPITRON_CHECK(k.x.contiguous() && k.average.contiguous(), to_string(k.x.shape));
  visit_dtypes(k.x.dtype, k.average.dtype, [&]<class Tx, class Ty>() {
    const Tx* x = k.x.as<Tx>();
    const Ty* average = k.average.as<Ty>();
    write_flat(k.average.as<Ty>(), k.x.numel(), false,
               [x, average, stays = k.momentum, comes = 1 - k.momentum](Index i, auto lanes) {
                 return simd::load(average + i, lanes) * stays + simd::load(x + i, lanes) * comes;
               });
  });
}

void run(device::HostStream&, const MaskedSum& k) {
  const float* x = k.x.as<float>();
  const float* mask = k.mask.as<float>();
  double sum = 0, count = 0;
  for (Index i = 0; i < k.x.numel(); ++i) {
    sum += static_cast<double>(mask[i]) * static_cast<double>(x[i]);
    count += static_cast<double>(mask[i]);
  }
  k.y.as<double>()[0] = sum;
  k.y.as<double>()[1] = count;
}

void run(device::HostStream&, const NormalInit& k) {
  MPITRON_CHECK(k.pitch > 0 || k.x.contiguous(), to_string(k.x.shape));
  constexpr Index kWork = 64;  // logarithm, root, sine and cosine in fp64
  const Index n = k.pitch > 0 ? k.x.size(-1) : k.x.numel();
  visit_dtype(k.x.dtype, [&]<class T>() {
    const Rows<T> rows(k.x);
    T* whole = k.x.as<T>();
    const double mean = k.mean, std = k.std;
    for_ranges(k.x.numel(), k.x.numel() * kWork, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Index row = i / n, column = i % n;
        T& x = k.pitch > 0 ? rows[row][column] : whole[i];
        const Index index = k.first_index + row * k.pitch + column;
        x = T(static_cast<float>(mean + std * normal_sample(k.key, index)));
      }
    });
  });
}

}  // namespace mpitron::kernels

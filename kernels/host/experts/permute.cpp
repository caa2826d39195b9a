// Moves rows to and from experts on the host. Sums over the visits of a token run in the order of
// the places, in fp32, and are rounded once; a thread owns whole tokens, so its number changes no
// bit.
#include "kernels/experts/permute.h"

#include <numeric>

#include "kernels/host/common/fetch_ahead.h"
#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

/// Places that go to each row, in order: those of row r are places[starts[r]] .. places[starts[r +
/// 1] - 1].
struct Sources {
  std::int64_t* starts;  // [t + 1]
  std::int64_t* places;  // [n]
};

/// Sorts the places by row, counting. Rows below 0 are padding and belong to nobody.
Sources sources_of(const Unpermute& k) {
  const Index t = k.x.size(0), n = k.rows.numel();
  auto* starts = static_cast<std::int64_t*>(k.workspace.data);
  const Sources sources{starts, starts + t + 1};
  const auto* rows = k.rows.as<std::int64_t>();
  std::fill_n(starts, t + 1, 0);
  for (Index i = 0; i < n; ++i) {
    starts[rows[i] + 1] += rows[i] < 0 ? 0 : 1;
  }
  std::partial_sum(starts, starts + t + 1, starts);
  for (Index i = 0; i < n; ++i) {
    if (rows[i] >= 0) {
      sources.places[starts[rows[i]]++] = i;
    }
  }
  // Every start has moved to the next one.
  std::copy_backward(starts, starts + t, starts + t + 1);
  starts[0] = 0;
  return sources;
}

/// Adds each row's places. The places of a row some rows ahead are fetched meanwhile, since nothing
/// else foresees where they lie.
template <class T>
void unpermute(const Unpermute& k, const Sources& sources) {
  const Rows<const T> ys(k.y);
  const Rows<T> xs(k.x);
  const Index h = k.x.size(1);
  const bool streaming = should_stream(k.x, xs, k.y);
  const Index rows_ahead = host::rows_ahead<T>(2 * h);  // most have two places
  const std::int64_t* end_of_places = sources.places + sources.starts[k.x.size(0)];
  for_ranges(k.x.size(0), k.y.numel() + k.x.numel(), [&](Index begin, Index end) {
    with_store(streaming, [&](auto store) {
      for (Index row = begin; row < end; ++row) {
        const std::int64_t *place = sources.places + sources.starts[row],
                           *last = sources.places + sources.starts[row + 1];
        const Index later = (last - place) * rows_ahead;
        const Index ahead = last + later <= end_of_places ? later : 0;
        simd::for_lanes(h, [&](Index i, auto lanes) {
          Float sum{};
          for (const std::int64_t* p = place; p < last; ++p) {
            fetch(ys[p[ahead]] + i);
            sum += simd::load(ys[*p] + i, lanes);
          }
          store(xs[row] + i, sum, lanes);
        });
      }
    });
  });
}

}  // namespace

void run(device::HostStream&, const Permute& k) {
  MPITRON_CHECK(k.x.dtype == k.y.dtype, name_of(k.x.dtype), name_of(k.y.dtype));
  const auto* rows = k.rows.as<std::int64_t>();
  const Index h = k.x.size(1);
  visit_dtype(k.x.dtype, [&]<class T>() {
    const Rows<const T> xs(k.x);
    const Rows<T> ys(k.y);
    const bool streaming = should_stream(k.y, ys, k.x);
    for_ranges(k.rows.numel(), 2 * k.y.numel(), [&](Index begin, Index end) {
      with_store(streaming, [&](auto store) {
        for (Index i = begin; i < end; ++i) {
          const T* x = rows[i] < 0 ? nullptr : xs[rows[i]];
          T* y = ys[i];
          const T* next = i + 1 < end && rows[i + 1] >= 0 ? xs[rows[i + 1]] : y;
          simd::for_lanes(h, [&](Index j, auto lanes) {
            simd::prefetch(next + j);
            store(y + j, x == nullptr ? Float{} : simd::load(x + j, lanes), lanes);
          });
        }
      });
    });
  });
}

Index workspace_bytes(const device::HostStream&, const Unpermute& k) {
  return (k.x.size(0) + 1 + k.rows.numel()) * static_cast<Index>(sizeof(std::int64_t));
}

void run(device::HostStream&, const Unpermute& k) {
  MPITRON_CHECK(k.x.dtype == k.y.dtype, name_of(k.x.dtype), name_of(k.y.dtype));
  const Sources sources = sources_of(k);
  visit_dtype(k.x.dtype, [&]<class T>() { unpermute<T>(k, sources); });
}

void run(device::HostStream&, const ScaleRows& k) {
  MPITRON_CHECK(k.x.dtype == k.y.dtype, name_of(k.x.dtype), name_of(k.y.dtype));
  const float* factors = k.factors.as<float>();
  visit_dtype(k.x.dtype, [&]<class T>() {
    const Rows<const T> xs(k.x);
    const Rows<T> ys(k.y);
    for_tiles(k.x.size(0), k.x.size(1), 1, should_stream(k.y, ys, k.x),
              [&](auto store, Index row, Index begin, Index end) {
                const T* x = xs[row] + begin;
                T* y = ys[row] + begin;
                simd::for_lanes(end - begin, [&](Index i, auto lanes) {
                  store(y + i, simd::load(x + i, lanes) * factors[row], lanes);
                });
              });
  });
}

void run(device::HostStream&, const ScaleRowsBackward& k) {
  MPITRON_CHECK(k.x.dtype == k.dy.dtype && k.dx.dtype == k.dy.dtype, name_of(k.dy.dtype));
  const float* factors = k.factors.as<float>();
  float* dfactors = k.dfactors.as<float>();
  const Index h = k.x.size(1);
  visit_dtype(k.x.dtype, [&]<class T>() {
    const Rows<const T> dys(k.dy), xs(k.x);
    const Rows<T> dxs(k.dx);
    for_blocks(k.x.size(0), 2 * k.x.numel(), [&](Index row) {
      const T *dy = dys[row], *x = xs[row];
      T* dx = dxs[row];
      const auto sums = simd::row_sums<1>(h, [&](Index i, auto lanes, Float* sum) {
        const Float gradient = simd::load(dy + i, lanes);
        sum[0] += gradient * simd::load(x + i, lanes);
        simd::store(dx + i, gradient * factors[row], lanes);
      });
      dfactors[row] = sums[0];
    });
  });
}

}  // namespace mpitron::kernels

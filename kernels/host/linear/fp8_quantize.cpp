// Rounds bf16 rows to 8 bits on the host, and finds the largest values that scales are made of.
// Maxima need no order, so chunks of rows may be any thread's.
#include "kernels/linear/fp8_quantize.h"

#include <algorithm>
#include <vector>

#include "kernels/host/common/views.h"

namespace mpitron::kernels {

namespace {

/// Rows that one thread works on at a time where blocks leave the choice.
constexpr Index kRows = 64;

/// Finds the largest magnitudes of the rows [begin, end), block by block: largest[across].
template <class T>
void find_largest(const Rows<const T>& xs, Index begin, Index end, const Fp8Amax& k,
                  float* largest) {
  const Index h = k.x.size(1), width = std::max<Index>(k.blocks.columns_of(h), 1);
  for (Index row = begin; row < end; ++row) {
    const T* x = xs[row];
    for (Index first = 0, block = 0; first < h; first += width, ++block) {
      float found = largest[block];
      for (Index i = first; i < std::min(first + width, h); ++i) {
        found = std::max(found, finite_magnitude(static_cast<float>(x[i])));
      }
      largest[block] = found;
    }
  }
}

float& at(const device::TensorView& amax, Index down, Index across) {
  return amax.as<float>()[down * amax.stride(0) + across * amax.stride(1)];
}

}  // namespace

void run(device::HostStream&, const Fp8Amax& k) {
  check(k);
  const Index t = k.x.size(0), h = k.x.size(1);
  const Index across = k.blocks.across(h), rows = k.blocks.rows > 0 ? k.blocks.rows : kRows;
  const Index chunks = (t + rows - 1) / rows;
  std::vector<float> largest(static_cast<std::size_t>(chunks * across), 0.f);
  visit_dtype(k.x.dtype, [&]<class T>() {
    const Rows<const T> xs(k.x);
    host::for_blocks(chunks, t * h, [&](Index chunk) {
      find_largest(xs, chunk * rows, std::min((chunk + 1) * rows, t), k,
                   largest.data() + chunk * across);
    });
  });
  for (Index down = 0; !k.accumulate && down < k.amax.size(0); ++down) {
    for (Index block = 0; block < across; ++block) {
      at(k.amax, down, block) = 0;
    }
  }
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    for (Index block = 0; block < across; ++block) {
      float& amax = at(k.amax, k.blocks.row(chunk * rows), block);
      amax = std::max(amax, largest[static_cast<std::size_t>(chunk * across + block)]);
    }
  }
}

void run(device::HostStream&, const Fp8Quantize& k) {
  check(k);
  const Index t = k.x.size(0), h = k.x.size(1);
  const Index width = std::max<Index>(k.blocks.columns_of(h), 1);
  const Rows<std::uint8_t> ys(k.y);
  for (Index row = 0; k.transpose && k.y.size(1) > t && row < h; ++row) {
    std::fill(ys[row] + t, ys[row] + k.y.size(1), std::uint8_t{0});
  }
  const auto amax = [&](Index down, Index across) {
    return k.amax.as<float>()[down * k.amax.stride(0) + across * k.amax.stride(1)];
  };
  visit_dtype(k.x.dtype, [&]<class T>() {
    const Rows<const T> xs(k.x);
    // Rows of one chunk write neighbours where y is transposed.
    host::for_blocks((t + kRows - 1) / kRows, 4 * t * h, [&](Index chunk) {
      const Index end = std::min((chunk + 1) * kRows, t);
      for (Index first = 0; first < h; first += width) {
        for (Index row = chunk * kRows; row < end; ++row) {
          const T* x = xs[row];
          const float scale = fp8_scale(amax(k.blocks.row(row), k.blocks.column(first)), k.scaling);
          for (Index i = first; i < std::min(first + width, h); ++i) {
            std::uint8_t& y = k.transpose ? ys[i][row] : ys[row][i];
            y = to_fp8(static_cast<float>(x[i]) * scale, k.scaling.format);
          }
        }
      }
    });
  });
}

/// Updates the history of scales by the reference's loops: a few numbers.
void run(device::HostStream&, const Fp8HistoryUpdate& kernel) {
  device::ReferenceStream plain;
  run(plain, kernel);
}

}  // namespace mpitron::kernels

// Turns rows by a Hadamard matrix in d log d additions: pairs at distance 1, then 2, 4, ... are
// replaced by their sum and difference.
#include "kernels/sparse_attention/hadamard.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

/// Leaves H x in `x`; the inner loop runs over neighbours from distance 16 on.
void turn(std::span<float> x) {
  for (std::size_t distance = 1; distance < x.size(); distance *= 2) {
    for (std::size_t begin = 0; begin < x.size(); begin += 2 * distance) {
      for (std::size_t i = begin; i < begin + distance; ++i) {
        const float a = x[i], b = x[i + distance];
        x[i] = a + b;
        x[i + distance] = a - b;
      }
    }
  }
}

}  // namespace

void run(device::HostStream&, const Hadamard& kernel) {
  const Index d = kernel.x.size(-1);
  MPITRON_CHECK(std::has_single_bit(static_cast<std::uint64_t>(d)) && kernel.x.contiguous(), d);
  const float factor = 1 / std::sqrt(static_cast<float>(d));
  visit_dtype(kernel.x.dtype, [&]<class T>() {
    T* const x = kernel.x.as<T>();
    host::for_ranges(kernel.x.numel() / d, 8 * kernel.x.numel(), [&](Index begin, Index end) {
      std::vector<float> row(static_cast<std::size_t>(d));
      for (T* at = x + begin * d; at != x + end * d; at += d) {
        std::ranges::transform(std::span(at, row.size()), row.begin(),
                               [](T number) { return static_cast<float>(number); });
        turn(row);
        std::ranges::transform(row, at, [&](float number) { return T(number * factor); });
      }
    });
  });
}

}  // namespace mpitron::kernels

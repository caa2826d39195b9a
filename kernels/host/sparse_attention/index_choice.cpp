// Chooses the best scored keys of each query: a selection, not a sort, of their positions.
#include "kernels/sparse_attention/index_choice.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

/// Moves the `count` best of some positions to their front: larger scores, then lower positions.
void move_best_to_front(std::vector<Index>& positions, std::size_t count, const float* scores) {
  const auto score = [&](Index j) { return std::isnan(scores[j]) ? -INFINITY : scores[j]; };
  const auto better = [&](Index a, Index b) {
    return score(a) != score(b) ? score(a) > score(b) : a < b;
  };
  std::ranges::nth_element(positions, positions.begin() + static_cast<std::ptrdiff_t>(count),
                           better);
}

}  // namespace

void run(device::HostStream&, const IndexChoice& kernel) {
  const Index s = kernel.scores.size(2), rows = kernel.scores.size(0) * s;
  const auto topk = static_cast<std::size_t>(kernel.topk);
  const float* const scores = kernel.scores.as<float>();
  auto* const hidden = kernel.hidden.as<std::uint8_t>();
  host::for_ranges(rows, 8 * rows * s, [&](Index begin, Index end) {
    std::vector<Index> positions;
    for (Index row = begin; row < end; ++row) {
      const VisibleKeys visible(kernel.mask, row / s, row % s);
      positions.clear();
      for (Index j = 0; j < visible.end(); ++j) {
        if (visible(j)) {
          positions.push_back(j);
        }
      }
      if (positions.size() > topk) {
        move_best_to_front(positions, topk, scores + row * s);
        positions.resize(topk);
      }
      std::fill_n(hidden + row * s, s, std::uint8_t{1});
      for (const Index j : positions) {
        hidden[row * s + j] = 0;
      }
    }
  });
}

}  // namespace mpitron::kernels

#pragma once
#include <array>

#include "kernels/host/common/views.h"

namespace mpitron::kernels::host {

/// Sums over the rows of [t, h] whose bits do not depend on the number of threads: the rows are cut
/// into blocks by t alone, each block has a row of `width` sums of its own in the workspace, and
/// these are added in pairs, pairs of pairs and so on, by their count alone. A thread adds what it
/// has made itself at once, from its caches; only what several threads made is left for the end.
class BlockSums {
 public:
  /// Few blocks keep what is added at the end small beside what is read.
  static Index rows_of(Index t) {
    return std::max(kLeastRows, (t + kMostBlocks - 1) / kMostBlocks);
  }
  static Index count_of(Index t) { return (t + rows_of(t) - 1) / rows_of(t); }
  static Index workspace_bytes(Index t, Index width) {
    return count_of(t) * width * Index{sizeof(float)};
  }

  BlockSums(Index t, Index width, const device::Out& workspace)
      : count_(count_of(t)), width_(width), sums_(static_cast<float*>(workspace.data)) {
    MPITRON_CHECK(workspace.bytes() >= workspace_bytes(t, width), workspace.bytes());
  }

  float* operator[](Index block) const { return sums_ + block * width_; }

  /// The row of a block is complete; so are those of the blocks from `first` on before it, all by
  /// the calling thread.
  void finish(Index block, Index first) {
    Index size = 1;
    for (Index begin = block - 1; begin >= first && (block + 1) % (2 * size) == 0;
         size *= 2, begin = block + 1 - 2 * size) {
      add(begin, begin + size, 0, width_);
    }
    joined_[static_cast<std::size_t>(block + 1 - size)] = size;
  }

  /// target[i] = (or +=) the sum over all blocks of column `column` + i; once for a column.
  void total(Index column, const device::InOut& target, bool accumulate) const {
    visit_dtype(target.dtype, [&]<class T>() {
      T* out = target.as<T>();
      for_tiles(1, target.numel(), max_workers(), false, [&](auto, Index, Index begin, Index end) {
        join(column + begin, column + end);
        simd::for_lanes(end - begin, [&](Index j, auto lanes) {
          const simd::Float sum = simd::load(sums_ + column + begin + j, lanes);
          T* to = out + begin + j;
          simd::store(to, accumulate ? simd::load(to, lanes) + sum : sum, lanes);
        });
      });
    });
  }

 private:
  static constexpr Index kLeastRows = 16, kMostBlocks = 64;

  /// Adds the pairs that `finish` has not, in columns [begin, end).
  void join(Index begin, Index end) const {
    for (Index size = 1; size < count_; size *= 2) {
      for (Index block = 0; block + size < count_; block += 2 * size) {
        if (joined_[static_cast<std::size_t>(block)] <= size) {
          add(block, block + size, begin, end);
        }
      }
    }
  }
  void add(Index to, Index from, Index begin, Index end) const {
    float* sum = (*this)[to] + begin;
    simd::for_lanes(end - begin, [&, more = (*this)[from] + begin](Index i, auto lanes) {
      simd::store(sum + i, simd::load(sum + i, lanes) + simd::load(more + i, lanes), lanes);
    });
  }

  Index count_, width_;
  float* sums_;
  std::array<Index, kMostBlocks> joined_{};  // how many blocks the row of this one holds
};

}  // namespace mpitron::kernels::host

#pragma once
#include <deque>

#include "kernels/attention/cached_attention.h"

namespace mpitron::kernels {

/// Three sequences in one step: the end of a prompt, a single token, and a beginning. Their blocks
/// lie anywhere.
struct CachedStep {
  explicit CachedStep(Index block_size) : block_size(block_size) {
    add(3, 19 / block_size * block_size + 2);
    add(1, 2 * block_size);
    add(9, 0);
  }
  void add(Index rows, Index first_position) {
    for (Index i = 0; i * block_size < first_position + rows; ++i) {
      blocks.push_back((5 * used++ + 3) % kBlocks);
      lists.back().push_back(blocks.back());
    }
    pieces.push_back({t, rows, first_position, lists.back()});
    t += rows;
    lists.emplace_back();
  }
  /// For a GPU.
  std::vector<double> table(bool causal = true) const {
    std::vector<std::int64_t> words;
    append_piece_table(pieces, t, causal, words);
    return {words.begin(), words.end()};
  }
  static constexpr Index kBlocks = 32;
  Index block_size, t = 0, used = 0;
  std::vector<Index> blocks;
  std::deque<std::vector<Index>> lists = std::deque<std::vector<Index>>(1);
  std::vector<CachedPiece> pieces;
};

}  // namespace mpitron::kernels

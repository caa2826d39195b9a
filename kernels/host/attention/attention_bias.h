#pragma once
#include "kernels/host/attention/attention_problem.h"

namespace mpitron::kernels::host::attention {

/// Holds a number for each distance between a query and a key of one head, with room for the rows
/// and columns that blocks stick out: the bias of scores, or sums of gradients. Without a bias
/// there is nothing, and every call does nothing.
class HeadBias {
 public:
  HeadBias() = default;
  /// `values`: words(problem) floats.
  template <class T>
  HeadBias(const Problem<T>& problem, float* values)
      : values_(problem.bias ? values : nullptr),
        size_(words(problem)),
        rows_(round_up(problem.s, kRows)),
        before_(rows_ - problem.s) {}
  template <class T>
  static Index words(const Problem<T>& problem) {
    const Index columns = round_up(round_up(problem.s_kv, kRows), kCols);
    return problem.bias ? round_up(round_up(problem.s, kRows) + columns, 16) : 0;
  }

  void clear() {
    if (values_ != nullptr) {
      std::fill_n(values_, size_, 0.f);
    }
  }
  /// Reads a head of bias [n, distances], in units of raw scores; zeros around it.
  template <class T>
  void read(const Problem<T>& problem, Index head) {
    clear();
    const In& bias = problem.bias;
    for (Index i = 0; values_ != nullptr && i < bias.size(1); ++i) {
      const T value = bias.as<T>()[head * bias.stride(0) + i * bias.stride(1)];
      values_[before_ + i] = static_cast<float>(value) / problem.scale;
    }
  }
  /// Writes the sums to [b, n, distances].
  void write(const Out& to, Index batch, Index head) const {
    for (Index i = 0; values_ != nullptr && i < to.size(2); ++i) {
      to.as<float>()[batch * to.stride(0) + head * to.stride(1) + i * to.stride(2)] =
          values_[before_ + i];
    }
  }

  /// Adds the numbers of rows [row, + 6) and columns [col, + 16 N) to a block.
  template <int N>
  [[gnu::always_inline]] void add_to(Block<N>& block, Index row, Index col) const {
    if (values_ != nullptr) {
      for_block<N>([&](int m, int n) {
        block[m][n] = block[m][n] + load_as_float(at(row + m, col + 16 * n));
      });
    }
  }
  /// Adds a block to the numbers, row after row: the rows overlap, so their order is part of the
  /// contract.
  template <int N>
  [[gnu::always_inline]] void add(const Block<N>& block, Index row, Index col) {
    if (values_ != nullptr) {
      for_block<N>([&](int m, int n) {
        float* const to = at(row + m, col + 16 * n);
        store_rounded(to, load_as_float(to) + block[m][n], 16);
      });
    }
  }

 private:
  float* at(Index row, Index col) const { return values_ + rows_ - 1 - row + col; }

  float* values_ = nullptr;
  Index size_ = 0;
  Index rows_ = 0;    // of queries, in whole blocks
  Index before_ = 0;  // values before that of the last query and the first key
};

}  // namespace mpitron::kernels::host::attention

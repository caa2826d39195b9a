#pragma once
#include <cstring>
#include <limits>

#include "kernels/host/attention/attention_product.h"

// Packs a head into the operands of the micro-kernel: O(s d), padded with zeros.
namespace mpitron::kernels::host::attention {

/// The size of a head: a constant D where it is a multiple of 64 worth its own code, else (D = 0)
/// known at run time.
template <class T, int D>
class HeadSize {
 public:
  explicit HeadSize(Index size) : size_(size) {}

  Index size() const { return D > 0 ? D : size_; }
  /// Steps of a reduction over the head, and the words that hold a row of it.
  Index steps() const { return (size() + kPack<T> - 1) / kPack<T>; }
  Index words() const { return round_up(size(), 16 * kPack<T>) / kPack<T>; }
  /// Columns of an fp32 row, and panels of 64 of them.
  Index columns() const { return round_up(size(), 16); }
  Index panels() const { return (size() + kCols - 1) / kCols; }
  /// Where column `col` of a transposed operand begins; all of a panel's lie kCols apart.
  Index transposed(Index col) const { return round_down(col, kCols) * words() + col % kCols; }

  /// Tells whether packed rows are a panel as well.
  bool rows_are_panel() const { return kPack<T> == 1 && words() == kCols; }

  /// Calls f(panel, N): N groups of 16 columns are in that panel.
  template <class F>
  [[gnu::always_inline]] void for_panels(F&& f) const {
    for (Index panel = 0; panel < panels(); ++panel) {
      if constexpr (D > 0) {
        f(panel, std::integral_constant<int, 4>{});
      } else {
        with_groups(columns() / 16 - 4 * panel, [&](auto groups) { f(panel, groups); });
      }
    }
  }

  /// Loads elements [column, + 16) of a row; zeros beyond the head.
  Vec load_columns(const T* row, Index column) const {
    if constexpr (D > 0) {
      return load_as_float(row + column);
    } else {
      const Index left = size_ - column;
      return left >= 16 ? load_as_float(row + column) : load_as_float(row + column, left);
    }
  }
  template <class Output>
  void store_columns(Output* row, Index column, Vec x) const {
    store_rounded(row + column, x, D > 0 ? 16 : size_ - column);
  }
  /// Loads words [word, + 16) of a row.
  Vec load_words(const T* row, Index word) const {
    if constexpr (std::is_same_v<T, BFloat16>) {
      const Index left = size() - 2 * word;
      return left >= 32 ? load_pairs(row + 2 * word) : load_pairs(row + 2 * word, left);
    } else {
      return load_columns(row, word);
    }
  }

 private:
  Index size_;
};

/// Tells which panel a key is in, where keys are columns: each has 64 of them, but where a single
/// vector of 16 would be left for the last one (as of 197 or 257 keys), which multiplies slowly,
/// the last two panels have 48 and 32. Packed, a panel has room for 64 all the same.
class KeyPanels {
 public:
  /// Of keys [0, keys); `even`: without exception.
  explicit KeyPanels(Index keys, bool even = false) : end_(round_up(keys, 16)) {
    if (!even && end_ > kCols && end_ % kCols == 16) {
      last_ = end_ - 32;
    }
  }
  /// Returns which column of whole panels a key is.
  Index place(Index key) const { return key < last_ ? key : key + 16; }
  /// Returns where the panel of a key ends.
  Index end(Index key) const {
    return key < last_ ? std::min(round_down(key, kCols) + kCols, last_) : end_;
  }
  /// All keys, in whole vectors.
  Index size() const { return end_; }

 private:
  Index end_;
  Index last_ = std::numeric_limits<Index>::max();  // first key of a panel that begins early
};

/// Rows of one head in a tensor [s, ...]: `valid` of them are there.
template <class T>
struct HeadRows {
  T* data;
  Index stride;
  Index valid;

  T* row(Index r) const { return data + r * stride; }
  /// Asks for the first `size` elements of a row to come: the processor does not foresee rows that
  /// lie apart.
  [[gnu::always_inline]] void fetch(Index r, Index size) const {
    constexpr Index kLine = 64 / Index{sizeof(T)};
    if (r < valid) {
      for (Index i = 0; i < size; i += kLine) {
        __builtin_prefetch(row(r) + i, std::is_const_v<T> ? 0 : 1);
      }
    }
  }
};

/// Distance, in rows, of the rows that are fetched ahead.
inline constexpr Index kRowsAhead = 16;

/// Packs an A operand, reduction over the head: words [rows][words()].
template <class T, int D>
void pack_rows(float* to, HeadSize<T, D> head, const HeadRows<const T>& from, Index rows) {
  for (Index r = 0; r < rows; ++r) {
    from.fetch(r + kRowsAhead, head.size());
    for (Index w = 0; w < head.words(); w += 16, to += 16) {
      store(to, r < from.valid ? head.load_words(from.row(r), w) : zero());
    }
  }
}

/// Packs `rows` rows of a B operand, reduction over the sequence: words [panels()][whole /
/// pack][64].
template <class T, int D>
void pack_panels(float* first, HeadSize<T, D> head, const HeadRows<const T>& from, Index rows,
                 Index whole) {
  head.for_panels([&](Index panel, auto groups) {
    float* to = first + panel * (whole / kPack<T>)*kCols;
    const auto words = [&](Index row, Index word) {
      return row < from.valid ? head.load_words(from.row(row), panel * (kCols / kPack<T>)+word)
                              : zero();
    };
    for (Index r = 0; r < rows; r += kPack<T>, to += kCols) {
      for (Index word = 0; word < 16 * groups / kPack<T>; word += 16) {
        if constexpr (kPack<T> == 1) {
          store(to + word, words(r, word));
        } else {
          store_interleaved(to + 2 * word, words(r, word), words(r + 1, word));
        }
      }
    }
  });
}

/// Packs keys [first, end) as a B operand, reduction over the head: words [panels][words()][64];
/// `from` begins with key `first`.
template <class T, int D>
void pack_transposed(float* to, HeadSize<T, D> head, const HeadRows<const T>& from,
                     const KeyPanels& panels, Index first, Index end) {
  for (Index key = first; key < std::min(end, panels.size()); key += 16) {
    float* const columns = to + head.transposed(panels.place(key));
    for (Index i = 0; i < 16; ++i) {
      from.fetch(key - first + 16 + i, head.size());
    }
    for (Index w = 0; w < head.words(); w += 16) {  // inside: a row's cache lines are neighbours
      Vec x[16];
      for (Index i = 0; i < 16; ++i) {
        const Index row = key - first + i;
        x[i] = row < from.valid ? head.load_words(from.row(row), w) : zero();
      }
      store_transposed(columns + w * kCols, kCols, x);
    }
  }
}

}  // namespace mpitron::kernels::host::attention

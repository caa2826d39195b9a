#pragma once
#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "kernels/host/attention/attention_pack.h"
#include "kernels/host/common/simd.h"

namespace mpitron::kernels::host::attention {

/// Asks for the rows of heads that are wanted soon, some lines between every two products: a head's
/// rows lie apart, so the processor does not foresee them, and packing them would wait for memory
/// while nothing is multiplied. No result depends on it.
template <class T>
class RowFetcher {
 public:
  /// Adds rows [0, count) of `size` elements, behind what was added before. What finds no room is
  /// left to the packing.
  template <class Row>
  void add(const HeadRows<Row>& rows, Index count, Index size) {
    count = std::min(count, rows.valid);
    if (end_ == ranges_.size()) {
      std::move(ranges_.begin() + begin_, ranges_.end(), ranges_.begin());
      end_ -= std::exchange(begin_, 0);
    }
    if (count > 0 && end_ < ranges_.size()) {
      ranges_[end_++] = {reinterpret_cast<const char*>(rows.data), rows.stride * Index{sizeof(Row)},
                         size * Index{sizeof(Row)}, count, !std::is_const_v<Row>};
    }
  }

  /// Drops what has not been asked for.
  void clear() { begin_ = end_ = 0; }
  /// Tells whether all has been asked for.
  bool done() const { return begin_ == end_; }

  /// Asks for the next rows, about kBytes of them.
  [[gnu::always_inline]] void some() {
    if (!done()) {
      fetch_rows();
    }
  }

  /// Six rows of heads of 64: fewer are not enough for narrow windows.
  static constexpr Index kBytes = 6 * 64 * Index{sizeof(T)};

 private:
  static constexpr Index kLine = 64;

  struct Range {
    const char* row;
    Index stride, bytes, rows;
    bool written;
  };

  [[gnu::noinline]] void fetch_rows() {
    for (Index left = kBytes; left > 0 && !done();) {
      Range& range = ranges_[begin_];
      const Index count = std::min(range.rows, (left + range.bytes - 1) / range.bytes);
      for (Index row = 0; row < count; ++row, range.row += range.stride) {
        for (Index i = 0; i < range.bytes; i += kLine) {
          fetch_line(range.row + i, range.written);
        }
      }
      left -= count * range.bytes;
      range.rows -= count;
      if (range.rows == 0 && ++begin_ == end_) {
        clear();
      }
    }
  }
  /// Into the second cache: the first belongs to the products.
  [[gnu::always_inline]] static void fetch_line(const char* line, bool written) {
    constexpr int kWrite = 1, kSecondLevel = 2;
    if (written) {
      __builtin_prefetch(line, kWrite, kSecondLevel);
    } else {
      simd::prefetch(line);
    }
  }

  std::array<Range, 16> ranges_;
  std::size_t begin_ = 0, end_ = 0;  // of the ranges that are not done
};

}  // namespace mpitron::kernels::host::attention

// Transposes matrices through registers: blocks of 16 x 16 words, in tiles whose lines stay in the
// caches. Elements of 2 bytes are taken as pairs of rows, so both sizes share the code.
#include "kernels/host/linear/transpose.h"

#include <algorithm>
#include <cstring>

#include "kernels/host/common/parallel.h"
#include "kernels/host/common/simd_types.h"

namespace mpitron::kernels::host {
namespace {

using simd::UInt;
constexpr Index kLanes = simd::kLanes;

/// Swaps the off-diagonal blocks of `width` lanes; the four widths together transpose 16 x 16.
template <std::uint32_t width>
inline void swap_blocks(UInt (&rows)[16]) {
  constexpr auto lanes = [](bool high) {
    UInt picked{};
    for (std::uint32_t i = 0; i < 16; ++i) {
      const bool second = (i & width) != 0;
      picked[i] = high ? (second ? i + 16 : i + width) : (second ? i - width + 16 : i);
    }
    return picked;
  };
  const UInt low = lanes(false);
  const UInt high = lanes(true);
#pragma GCC unroll 16
  for (std::uint32_t i = 0; i < 16; ++i) {
    if ((i & width) == 0) {
      const UInt a = rows[i];
      const UInt b = rows[i + width];
      rows[i] = __builtin_shuffle(a, b, low);
      rows[i + width] = __builtin_shuffle(a, b, high);
    }
  }
}

inline void transpose_words(UInt (&rows)[16]) {
  swap_blocks<1>(rows);
  swap_blocks<2>(rows);
  swap_blocks<4>(rows);
  swap_blocks<8>(rows);
}

/// Loads row `i` of a block as 32-bit words: one element, or the elements of two rows side by side.
inline UInt load_words(const std::uint32_t* from, Index stride, Index i) {
  UInt words;
  std::memcpy(&words, from + i * stride, sizeof words);
  return words;
}
inline UInt load_words(const std::uint16_t* from, Index stride, Index i) {
  using Half [[gnu::vector_size(32)]] = std::uint16_t;
  Half even, odd;
  std::memcpy(&even, from + 2 * i * stride, sizeof even);
  std::memcpy(&odd, from + (2 * i + 1) * stride, sizeof odd);
  return __builtin_convertvector(even, UInt) | __builtin_convertvector(odd, UInt) << 16;
}

/// Transposes a block of 16 columns and as many rows as fill a vector: 64 bytes of each column.
template <class T>
void transpose_block(const T* from, Index from_stride, T* to, Index to_stride) {
  UInt rows[16];
  for (Index i = 0; i < 16; ++i) {
    rows[i] = load_words(from, from_stride, i);
  }
  transpose_words(rows);
  for (Index i = 0; i < 16; ++i) {
    std::memcpy(to + i * to_stride, &rows[i], sizeof rows[i]);
  }
}

template <class T>
constexpr Index kBlockRows = 64 / static_cast<Index>(sizeof(T));

constexpr Index kTileRows = 256;
constexpr Index kTileColumns = 64;

/// Transposes the part of the matrix at (row0, column0), at most kTileRows x kTileColumns.
template <class T>
void transpose_tile(const Transpose<T>& task, Index row0, Index column0) {
  const Index row_end = std::min(task.rows, row0 + kTileRows);
  const Index column_end = std::min(task.columns, column0 + kTileColumns);
  for (Index row = row0; row < row_end; row += kBlockRows<T>) {
    for (Index column = column0; column < column_end; column += kLanes) {
      const T* from = task.from + row * task.from_stride + column;
      T* to = task.to + column * task.to_stride + row;
      const Index rows = std::min(kBlockRows<T>, row_end - row);
      const Index columns = std::min(kLanes, column_end - column);
      if (rows == kBlockRows<T> && columns == kLanes) {
        transpose_block(from, task.from_stride, to, task.to_stride);
        continue;
      }
      for (Index c = 0; c < columns; ++c) {
        for (Index r = 0; r < rows; ++r) {
          to[c * task.to_stride + r] = from[r * task.from_stride + c];
        }
      }
    }
  }
}

template <class T>
void run_tiles(const Transpose<T>& task) {
  const Index down = (task.rows + kTileRows - 1) / kTileRows;
  const Index across = (task.columns + kTileColumns - 1) / kTileColumns;
  for_blocks(down * across, task.rows * task.columns, [&](Index tile) {
    transpose_tile(task, tile % down * kTileRows, tile / down * kTileColumns);
  });
}

}  // namespace

void run_transpose(const Transpose<std::uint16_t>& task) {
  run_tiles(task);
}
void run_transpose(const Transpose<std::uint32_t>& task) {
  run_tiles(task);
}

}  // namespace mpitron::kernels::host

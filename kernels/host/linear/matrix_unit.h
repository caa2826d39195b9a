#pragma once
#include <cstdint>

#include "utils/numbers/shape.h"

#if defined(__AMX_BF16__) && defined(__AMX_INT8__)
#include <immintrin.h>
#endif

// The processor's matrix unit (AMX). Its tile registers 0 to 3 are sums, of two tiles of rows times
// two blocks of sixteen columns; 4 and 5 are the rows, 6 and 7 the weights of the blocks. R and B
// say how many of either are there. The numbers of registers are part of the instructions, so they
// stand here as they are.

namespace mpitron::kernels::host::packed {

/// Tells whether the processor has such a unit and the system lets this program use it; asked once.
bool has_tiles();

#if defined(__AMX_BF16__) && defined(__AMX_INT8__)

struct MatrixUnit {
  /// Tiles of `rows` rows of x, `row_bytes` of each; weights have a line for each four bytes of it.
  static void configure(Index rows, Index row_bytes) {
    struct alignas(64) Configuration {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t bytes_of_row[16] = {};
      std::uint8_t rows[16] = {};
    } configuration;
    for (int i = 0; i < 8; ++i) {
      const bool of_x = i == 4 || i == 5;
      configuration.bytes_of_row[i] = static_cast<std::uint16_t>(of_x ? row_bytes : 64);
      configuration.rows[i] = static_cast<std::uint8_t>(i < 6 ? rows : row_bytes / 4);
    }
    asm volatile("" : : "r"(&configuration) : "memory");  // all of it is read
    _tile_loadconfig(&configuration);
  }
  static void release() { _tile_release(); }

  static void clear_sums() {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  /// Sums of the second tile of rows begin at `second`; those of the second block lie behind the
  /// sixteen of the first.
  template <int R, int B>
  static void load_sums(const float* first, const float* second, Index stride) {
    _tile_loadd(0, first, stride);
    if constexpr (B > 1) {
      _tile_loadd(1, first + 16, stride);
    }
    if constexpr (R > 1) {
      _tile_loadd(2, second, stride);
    }
    if constexpr (R > 1 && B > 1) {
      _tile_loadd(3, second + 16, stride);
    }
  }
  template <int R, int B>
  static void store_sums(float* first, float* second, Index stride) {
    _tile_stored(0, first, stride);
    if constexpr (B > 1) {
      _tile_stored(1, first + 16, stride);
    }
    if constexpr (R > 1) {
      _tile_stored(2, second, stride);
    }
    if constexpr (R > 1 && B > 1) {
      _tile_stored(3, second + 16, stride);
    }
  }
  template <int R>
  static void load_rows(const void* first, const void* second, Index stride) {
    _tile_loadd(4, first, stride);
    if constexpr (R > 1) {
      _tile_loadd(5, second, stride);
    }
  }
  template <int B>
  static void load_weights(const void* first, const void* second) {
    _tile_loadd(6, first, 64);
    if constexpr (B > 1) {
      _tile_loadd(7, second, 64);
    }
  }

  /// Products of bf16.
  template <int R, int B>
  static void multiply_pairs() {
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (B > 1) {
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (R > 1) {
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (R > 1 && B > 1) {
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  /// Products of signed with unsigned bytes.
  template <int R, int B>
  static void multiply_bytes() {
    _tile_dpbsud(0, 4, 6);
    if constexpr (B > 1) {
      _tile_dpbsud(1, 4, 7);
    }
    if constexpr (R > 1) {
      _tile_dpbsud(2, 5, 6);
    }
    if constexpr (R > 1 && B > 1) {
      _tile_dpbsud(3, 5, 7);
    }
  }
};

#endif

}  // namespace mpitron::kernels::host::packed

#pragma once
// Implements the functions of kernels/cuda/native/intrinsics.cuh for the emulator.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "emulator/units/async_copies.h"
#include "emulator/units/grid.h"
#include "emulator/units/matrix_unit.h"
#include "utils/numbers/float8.h"

namespace mpitron::kernels::cuda {

template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(emulator::dynamic_shared_memory());
}

inline void store_words(void* to, const uint4& words) {
  *static_cast<uint4*>(to) = words;
}

inline void copy_async(void* shared, const void* global, int bytes) {
  emulator::begin_copy(shared, global, bytes);
}
inline void copy_async_commit() {
  emulator::commit_copies();
}
template <int kOpen>
void copy_async_wait() {
  emulator::wait_for_copies(kOpen);
}

/// A lane's part of a load: the row of 16 bytes that it names, and the words that it gets.
struct MatrixLane {
  std::uint32_t row[4];
  std::uint32_t* words;

  MatrixLane(const void* from, std::uint32_t (&to)[4]) : words(to) {
    std::memcpy(row, from, sizeof row);
  }
};

inline void load_matrices(std::uint32_t (&words)[4], const void* row) {
  MatrixLane mine(row, words);
  emulator::meet_warp(mine, [](MatrixLane* const lanes[32]) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int matrix = 0; matrix < 4; ++matrix) {
        lanes[lane]->words[matrix] = lanes[8 * matrix + lane / 4]->row[lane % 4];
      }
    }
  });
}

/// Returns element i of two in a word.
inline std::uint16_t half_of(std::uint32_t word, int i) {
  return static_cast<std::uint16_t>(word >> 16 * i);
}

inline void load_matrices_transposed(std::uint32_t (&words)[4], const void* row) {
  MatrixLane mine(row, words);
  emulator::meet_warp(mine, [](MatrixLane* const lanes[32]) {
    const auto element = [&](int matrix, int i, int j) {
      return std::uint32_t{half_of(lanes[8 * matrix + i]->row[j / 2], j % 2)};
    };
    for (int lane = 0; lane < 32; ++lane) {
      for (int matrix = 0; matrix < 4; ++matrix) {
        const int i = lane % 4 * 2, j = lane / 4;
        lanes[lane]->words[matrix] = element(matrix, i, j) | element(matrix, i + 1, j) << 16;
      }
    }
  });
}

/// Adds c += a b of a warp; a of 16 x 8 K words, b of 8 K x 8. `number(word, i)` is element i of a
/// word.
template <int kPerWord, class Number>
void multiply_lanes(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                    Number) {
  struct Lane {
    float* c;
    const std::uint32_t *a, *b;
  } mine{c, a, b};
  emulator::meet_warp(mine, [](Lane* const lanes[32]) {
    constexpr int kDepth = 8 * kPerWord;
    float x[16][kDepth], y[kDepth][8], c[16][8];
    for (int lane = 0; lane < 32; ++lane) {
      const Lane& from = *lanes[lane];
      const int line = lane / 4;
      for (int i = 0; i < kPerWord; ++i) {
        const int low = lane % 4 * kPerWord + i, high = low + kDepth / 2;
        x[line][low] = Number{}(from.a[0], i);
        x[line + 8][low] = Number{}(from.a[1], i);
        x[line][high] = Number{}(from.a[2], i);
        x[line + 8][high] = Number{}(from.a[3], i);
        y[low][line] = Number{}(from.b[0], i);
        y[high][line] = Number{}(from.b[1], i);
      }
      for (int e = 0; e < 4; ++e) {
        c[line + e / 2 * 8][lane % 4 * 2 + e % 2] = from.c[e];
      }
    }
    emulator::add_products(emulator::kMatrixUnit, c[0], x[0], y[0], 16, 8, kDepth);
    for (int lane = 0; lane < 32; ++lane) {
      for (int e = 0; e < 4; ++e) {
        lanes[lane]->c[e] = c[lane / 4 + e / 2 * 8][lane % 4 * 2 + e % 2];
      }
    }
  });
}

inline void multiply_bf16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  multiply_lanes<2>(c, a, b, [](std::uint32_t word, int i) {
    return emulator::bits_as<float>(std::uint32_t{half_of(word, i)} << 16);
  });
}

inline void multiply_f16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  multiply_lanes<2>(c, a, b, [](std::uint32_t word, int i) {
    return static_cast<float>(emulator::bits_as<_Float16>(half_of(word, i)));
  });
}

/// Multiplies tf32; the matrix unit reads the upper 19 bits of each.
inline void multiply_tf32(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  multiply_lanes<1>(c, a, b, [](std::uint32_t word, int) {
    return emulator::bits_as<float>(word & 0xffffe000u);
  });
}

/// Multiplies bytes, four a word; sums of integers are exact.
inline void multiply_u8_s8(int (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  struct Lane {
    int* c;
    const std::uint32_t *a, *b;
  } mine{c, a, b};
  emulator::meet_warp(mine, [](Lane* const lanes[32]) {
    const auto byte_of = [](std::uint32_t word, int i) { return word >> 8 * i & 255; };
    for (int lane = 0; lane < 32; ++lane) {
      for (int e = 0; e < 4; ++e) {
        for (int k = 0; k < 32; ++k) {
          const Lane& row = *lanes[lane / 4 * 4 + k % 16 / 4];
          const Lane& column = *lanes[(lane % 4 * 2 + e % 2) * 4 + k % 16 / 4];
          const auto x = static_cast<int>(byte_of(row.a[k / 16 * 2 + e / 2], k % 4));
          const auto y = static_cast<std::int8_t>(byte_of(column.b[k / 16], k % 4));
          lanes[lane]->c[e] += x * y;
        }
      }
    }
  });
}

inline std::uint32_t round_to_tf32(float x) {
  const auto bits = emulator::bits_as<std::uint32_t>(x);
  return std::isnan(x) ? bits : (bits + 0x1000u) & 0xffffe000u;
}

inline float exp2_approximate(float x) {
  const float y = std::exp2(x);
  return y < std::numeric_limits<float>::min() ? 0.f : y;
}

inline std::uint32_t fp8_pair(float first, float second, Fp8Format format) {
  return to_fp8(first, format) | static_cast<std::uint32_t>(to_fp8(second, format)) << 8;
}

}  // namespace mpitron::kernels::cuda

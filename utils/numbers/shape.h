#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "utils/check.h"

namespace mpitron {

using Index = std::int64_t;

/// Extents of a tensor, slowest dimension first; at most kMaxRank of them, held in place.
class Shape {
 public:
  static constexpr int kMaxRank = 6;

  Shape() = default;
  Shape(std::initializer_list<Index>
            extents) {  // NOLINT(google-explicit-constructor): {t, h} reads as a shape
    MPITRON_CHECK(static_cast<int>(extents.size()) <= kMaxRank, extents.size());
    for (const Index extent : extents) {
      extents_[static_cast<std::size_t>(rank_++)] = extent;
    }
  }

  int rank() const { return rank_; }
  Index operator[](int i) const {
    return extents_[static_cast<std::size_t>(i < 0 ? rank_ + i : i)];
  }
  Index& operator[](int i) { return extents_[static_cast<std::size_t>(i < 0 ? rank_ + i : i)]; }
  void push_back(Index extent) {
    MPITRON_CHECK(rank_ < kMaxRank, rank_);
    extents_[static_cast<std::size_t>(rank_++)] = extent;
  }
  /// Number of elements; 1 for rank 0.
  Index numel() const {
    Index n = 1;
    for (int i = 0; i < rank_; ++i) {
      n *= (*this)[i];
    }
    return n;
  }
  bool operator==(const Shape& other) const = default;

 private:
  std::array<Index, kMaxRank> extents_{};
  int rank_ = 0;
};

inline std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    text += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

/// Most experts that a router chooses from: its kernels keep the scores of a token on the stack.
inline constexpr Index kMostExperts = 2048;

}  // namespace mpitron

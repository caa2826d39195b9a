#pragma once
#include <atomic>
#include <cstddef>
#include <vector>

#include "utils/shape.h"

namespace mpitron::checkpoint {

/// Copies past the caches that several threads share out among themselves: one begins beside
/// training, and whoever needs them done helps.
class CopyQueue {
 public:
  struct Copy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    Index bytes = 0;
  };

  explicit CopyQueue(std::vector<Copy> copies) : copies_(std::move(copies)) {}

  /// Copies until none is left to begin.
  void work();
  /// Helps, and returns when all are done, whoever does them.
  void finish();

 private:
  const std::vector<Copy> copies_;
  std::atomic<std::size_t> next_ = 0, done_ = 0;
};

}  // namespace mpitron::checkpoint

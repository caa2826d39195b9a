#pragma once
#include <atomic>
#include <mutex>
#include <set>
#include <utility>

namespace mpitron::kernels {

/// Shapes that launches have met and for which nothing was chosen, noted while somebody wants to
/// know them. Any thread may add.
template <class Shape>
class MetShapes {
 public:
  /// Notes those from now on, and forgets earlier ones.
  void begin() {
    const std::lock_guard lock(mutex_);
    shapes_.clear();
    noting_ = true;
  }
  bool noting() const { return noting_.load(std::memory_order_relaxed); }
  void add(const Shape& shape) {
    const std::lock_guard lock(mutex_);
    if (noting_) {
      shapes_.insert(shape);
    }
  }
  /// Returns what was noted; from now on nothing is.
  std::set<Shape> end() {
    const std::lock_guard lock(mutex_);
    noting_ = false;
    return std::exchange(shapes_, {});
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> noting_ = false;
  std::set<Shape> shapes_;
};

}  // namespace mpitron::kernels

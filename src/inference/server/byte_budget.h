#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <utility>

namespace mpitron::inference {

/// Bytes that all connections may hold together. Any thread may call.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t bytes) : left_(bytes) {}

  /// False where so many are not left.
  bool take(std::size_t bytes) {
    std::size_t left = left_;
    do {
      if (bytes > left) {
        return false;
      }
    } while (!left_.compare_exchange_weak(left, left - bytes));
    return true;
  }
  void give_back(std::size_t bytes) { left_ += bytes; }
  std::size_t left() const { return left_; }

 private:
  std::atomic<std::size_t> left_;
};

/// What one connection has taken of a budget, given back when this object ends.
class ByteCharge {
 public:
  /// The first bytes of each are not counted: small requests get in when large ones have taken the
  /// whole budget.
  static constexpr std::size_t kFree = std::size_t{16} << 10;

  ByteCharge() = default;
  explicit ByteCharge(ByteBudget& budget) : budget_(&budget) {}
  ~ByteCharge() { hold(0); }
  ByteCharge(ByteCharge&& other) noexcept { *this = std::move(other); }
  ByteCharge& operator=(ByteCharge&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(charged_, other.charged_);
    return *this;
  }

  /// The connection holds so many bytes from now on; false where they are not left, and it holds
  /// what it held.
  bool hold(std::size_t bytes) {
    const std::size_t counted = bytes > kFree ? bytes - kFree : 0;
    if (counted > charged_ && !budget_->take(counted - charged_)) {
      return false;
    }
    if (counted < charged_) {
      budget_->give_back(charged_ - counted);
    }
    charged_ = counted;
    return true;
  }

 private:
  ByteBudget* budget_ = nullptr;  // absent: nothing is held
  std::size_t charged_ = 0;
};

/// Bytes that all connections may read in a second, beside a burst. One thread calls.
class BytePace {
 public:
  using Clock = std::chrono::steady_clock;
  /// So much as the pace allows in this time may come at once.
  static constexpr std::chrono::milliseconds kBurst{50};

  explicit BytePace(std::size_t bytes_per_second) : rate_(static_cast<double>(bytes_per_second)) {}

  /// Notes that so many bytes were read; from when on more may be.
  Clock::time_point after(std::size_t bytes, Clock::time_point now) {
    const std::chrono::duration<double> took(static_cast<double>(bytes) / rate_);
    paid_ = std::max(paid_, now - kBurst) + std::chrono::duration_cast<Clock::duration>(took);
    return paid_;
  }

 private:
  double rate_;
  Clock::time_point paid_;
};

}  // namespace mpitron::inference

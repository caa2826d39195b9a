#pragma once
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "utils/check.h"

namespace mpitron::data {

/// A ring of reused items that one own thread fills ahead of one consumer. An exception of `fill`
/// reaches the consumer in its turn, after the items before it.
template <class T>
class Prefetcher {
 public:
  /// Fills an item in place; false: there are no more.
  using Fill = std::function<bool(T&)>;

  /// Starts the thread. At most `depth` items wait, besides the one the consumer holds. Depth 0: no
  /// thread, `next` fills.
  Prefetcher(std::size_t depth, T prototype, Fill fill)
      : fill_(std::move(fill)), ring_(depth + 1, std::move(prototype)) {
    if (depth > 0) {
      thread_ = std::thread([this] { produce(); });
    }
  }
  ~Prefetcher() {
    if (thread_.joinable()) {
      {
        const std::lock_guard lock(mutex_);
        stop_ = true;
      }
      space_.notify_one();
      thread_.join();
    }
  }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// Returns the next item, valid until the next call; null after the last.
  const T* next() {
    if (!thread_.joinable()) {
      return fill_(ring_[0]) ? &ring_[0] : nullptr;
    }
    std::unique_lock lock(mutex_);
    if (holding_) {  // the item of the last call returns to the producer
      ++taken_;
      holding_ = false;
      space_.notify_one();
    }
    items_.wait(lock, [&] { return filled_ > taken_ || done_; });
    if (filled_ > taken_) {
      holding_ = true;
      return &ring_[taken_ % ring_.size()];
    }
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    return nullptr;
  }

 private:
  void produce() {
    for (;;) {
      T* item = nullptr;
      {
        std::unique_lock lock(mutex_);
        space_.wait(lock, [&] { return stop_ || filled_ - taken_ < ring_.size(); });
        if (stop_) {
          return;
        }
        item = &ring_[filled_ % ring_.size()];
      }
      bool more = false;
      std::exception_ptr failure;
      try {
        more = fill_(*item);
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      filled_ += more ? 1 : 0;
      done_ = !more;
      failure_ = failure;
      items_.notify_one();
      if (done_) {
        return;
      }
    }
  }

  Fill fill_;
  std::vector<T> ring_;
  std::mutex mutex_;
  std::condition_variable items_;
  std::condition_variable space_;
  std::size_t filled_ = 0;  // items ever filled
  std::size_t taken_ = 0;   // items given back by the consumer
  bool holding_ = false;
  bool stop_ = false;
  bool done_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace mpitron::data

#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "utils/numbers/shape.h"
#include "utils/timer.h"

namespace mpitron::data {

/// Micro-batches that image loaders read ahead.
constexpr std::size_t kBatchesAhead = 2;

/// Batches that several threads fill ahead of one consumer, row by row, in a ring of reused items.
/// Batches come in order; an exception of one reaches the consumer in its turn, that of its lowest
/// row first. Neither the number of threads nor their speed changes what a batch holds.
template <class T>
class RowPrefetcher {
 public:
  /// The three steps of a batch.
  struct Work {
    /// Decides what the next batch holds; called in order, by one thread at a time. False: there
    /// are no more.
    std::function<bool(T&)> plan;
    /// Fills one row of a planned batch; called by several threads at once.
    std::function<void(T&, Index)> fill;
    /// Ends a batch whose rows are filled; called by one thread.
    std::function<void(T&)> finish = [](T&) {};
  };

  /// Starts the threads. At most `depth` batches wait, besides the one that the consumer holds. No
  /// threads: `next` does all work.
  RowPrefetcher(Index threads, std::size_t depth, Index rows, const T& prototype, Work work)
      : work_(std::move(work)), rows_(rows), ring_(depth + 1, Slot{prototype}) {
    for (Index i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { produce(); });
    }
  }
  ~RowPrefetcher() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    work_there_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  RowPrefetcher(const RowPrefetcher&) = delete;
  RowPrefetcher& operator=(const RowPrefetcher&) = delete;

  /// Returns the next batch, valid until the next call; null after the last.
  const T* next() {
    const Timer timer;
    std::unique_lock lock(mutex_);
    if (holding_) {  // the batch of the last call returns to the ring
      ++taken_;
      holding_ = false;
      work_there_.notify_all();
    }
    if (threads_.empty()) {
      while (given_ < rows_ || planned_ == taken_) {
        if (!work_on_a_row(lock)) {
          break;
        }
      }
    }
    batch_there_.wait(lock, [&] { return ended_ || filled(taken_); });
    if (planned_ == taken_) {
      if (plan_failure_) {
        std::rethrow_exception(plan_failure_);
      }
      return nullptr;
    }
    batch_there_.wait(lock, [&] { return filled(taken_); });
    Slot& slot = slot_of(taken_);
    holding_ = true;
    waited_ += timer.seconds();
    if (slot.failure) {
      std::rethrow_exception(slot.failure);
    }
    return &slot.item;
  }

  /// Returns the seconds that the consumer has waited in `next`.
  double waited() const { return waited_; }

 private:
  struct Slot {
    T item;
    Index done = 0;  // rows
    Index failed_row = 0;
    std::exception_ptr failure = {};
  };
  Slot& slot_of(std::size_t batch) { return ring_[batch % ring_.size()]; }
  bool filled(std::size_t batch) { return batch < planned_ && slot_of(batch).done == rows_; }

  void produce() {
    std::unique_lock lock(mutex_);
    for (;;) {
      work_there_.wait(lock, [&] {
        return stop_ || given_ < rows_ || (!ended_ && planned_ - taken_ < ring_.size());
      });
      if (stop_) {
        return;
      }
      work_on_a_row(lock);
    }
  }

  /// Plans a batch where all rows of the last are given out. False: there is none. Called with the
  /// lock: planning is cheap, and keeps batches in order.
  bool plan() {
    if (ended_) {
      return false;
    }
    Slot& slot = slot_of(planned_);
    slot = Slot{std::move(slot.item)};
    try {
      ended_ = !work_.plan(slot.item);
    } catch (...) {
      plan_failure_ = std::current_exception();
      ended_ = true;
    }
    if (ended_) {
      batch_there_.notify_all();
      return false;
    }
    ++planned_;
    given_ = 0;
    work_there_.notify_all();
    return true;
  }

  /// Fills a row without the lock. The thread that ends the last row finishes the batch.
  bool work_on_a_row(std::unique_lock<std::mutex>& lock) {
    if (given_ == rows_ && !plan()) {
      return false;
    }
    Slot& slot = slot_of(planned_ - 1);
    const Index row = given_++;
    lock.unlock();
    std::exception_ptr failure = attempt([&] { work_.fill(slot.item, row); });
    lock.lock();
    /// The lowest row's error counts, so that a user sees the same one with any number of threads.
    if (failure && (!slot.failure || row < slot.failed_row)) {
      slot.failure = failure;
      slot.failed_row = row;
    }
    if (slot.done + 1 == rows_ && !slot.failure) {
      lock.unlock();
      failure = attempt([&] { work_.finish(slot.item); });
      lock.lock();
      slot.failure = failure;
    }
    if (++slot.done == rows_) {
      batch_there_.notify_all();
    }
    return true;
  }

  template <class Action>
  static std::exception_ptr attempt(Action&& action) {
    try {
      action();
      return {};
    } catch (...) {
      return std::current_exception();
    }
  }

  Work work_;
  Index rows_;
  std::vector<Slot> ring_;
  std::mutex mutex_;
  std::condition_variable batch_there_, work_there_;
  std::size_t planned_ = 0, taken_ = 0;  // batches
  Index given_ = rows_;                  // rows of the last planned batch that threads have
  bool holding_ = false, ended_ = false, stop_ = false;
  std::exception_ptr plan_failure_;
  double waited_ = 0;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace mpitron::data

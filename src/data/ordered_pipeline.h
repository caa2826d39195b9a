#pragma once
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "utils/shape.h"

namespace mpitron::data {

/// Items of a sequence, worked on by several threads and handed out in order; at most 2 * workers +
/// 2 of them are alive, and they are reused, so that their buffers are allocated once.
template <class Item>
class OrderedPipeline {
 public:
  explicit OrderedPipeline(int workers)
      : workers_(workers), slots_(static_cast<std::size_t>(2 * workers + 2)) {}

  /// bool produce(Item&): one thread at a time, in order; false at the end.
  /// void process(int worker, Item&): any worker, in any order.
  /// void consume(Item&): the calling thread, in the order of `produce`.
  /// An exception ends the run once all items before its own are consumed, so that the error a user
  /// sees does not depend on the number of workers. May run once.
  template <class Produce, class Process, class Consume>
  void run(Produce produce, Process process, Consume consume) {
    std::vector<std::thread> threads;
    for (int worker = 0; worker < workers_; ++worker)
      threads.emplace_back([&, worker] { work(worker, produce, process); });
    std::exception_ptr error;
    try {
      consume_all(consume);
    } catch (...) {
      error = std::current_exception();
    }
    stop();
    for (std::thread& thread : threads)
      thread.join();
    if (error) {
      std::rethrow_exception(error);
    }
  }

 private:
  struct Slot {
    Item item;
    bool done = false;
    std::exception_ptr error;
  };

  Slot& slot(Index number) { return slots_[static_cast<std::size_t>(number) % slots_.size()]; }

  template <class Produce, class Process>
  void work(int worker, Produce& produce, Process& process) {
    while (Slot* slot = produce_next(produce)) {
      if (!slot->error) {
        try {
          process(worker, slot->item);
        } catch (...) {
          slot->error = std::current_exception();
        }
      }
      const std::lock_guard lock(mutex_);
      slot->done = true;
      changed_.notify_all();
    }
  }

  // Null at the end. A failure to produce is an item of its own, with the error in it.
  template <class Produce>
  Slot* produce_next(Produce& produce) {
    const std::lock_guard turn(produce_mutex_);
    Slot* next = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] {
        return ended_ || produced_ - consumed_ < static_cast<Index>(slots_.size());
      });
      if (ended_) {
        return nullptr;
      }
      next = &slot(produced_);
    }
    bool more = false;
    try {
      more = produce(next->item);
    } catch (...) {
      next->error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    ended_ = ended_ || !more;
    produced_ += more || next->error;
    changed_.notify_all();
    return more || next->error ? next : nullptr;
  }

  template <class Consume>
  void consume_all(Consume& consume) {
    while (true) {
      Slot& next = slot(consumed_);
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return next.done || (ended_ && consumed_ == produced_); });
        if (!next.done) {
          return;
        }
      }
      if (next.error) {
        std::rethrow_exception(next.error);
      }
      consume(next.item);
      const std::lock_guard lock(mutex_);
      next.done = false;
      ++consumed_;
      changed_.notify_all();
    }
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  int workers_;
  std::vector<Slot> slots_;
  std::mutex produce_mutex_;
  std::mutex mutex_;  // guards everything below and Slot::done
  std::condition_variable changed_;
  Index produced_ = 0;
  Index consumed_ = 0;
  bool ended_ = false;
};

}  // namespace mpitron::data

#pragma once
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Items of a sequence, worked on by several threads and handed out in order; at most 4 * workers -
/// 3 of them are alive, and they are reused, so that their buffers are allocated once. There is no
/// writing thread: the worker that ends the oldest item consumes it, with those that wait behind
/// it. So one worker needs no other thread, and its one item stays in its processor's cache.
template <class Item>
class OrderedPipeline {
 public:
  explicit OrderedPipeline(int workers)
      : workers_(workers), slots_(static_cast<std::size_t>(4 * workers - 3)) {}

  /// bool produce(Item&): one thread at a time, in order; false at the end.
  /// void process(int worker, Item&): any worker, in any order.
  /// void consume(Item&): one thread at a time, in the order of `produce`.
  /// The calling thread is worker 0. An exception ends the run once all items before its own are
  /// consumed, so that the error a user sees does not depend on the number of workers. May run
  /// once.
  template <class Produce, class Process, class Consume>
  void run(Produce produce, Process process, Consume consume) {
    std::vector<std::thread> threads;
    for (int worker = 1; worker < workers_; ++worker) {
      threads.emplace_back([&, worker] { work(worker, produce, process, consume); });
    }
    work(0, produce, process, consume);
    for (std::thread& thread : threads) {
      thread.join();
    }
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

 private:
  struct Slot {
    Item item;
    bool done = false;
    std::exception_ptr error;
  };

  Slot& slot(Index number) { return slots_[static_cast<std::size_t>(number) % slots_.size()]; }

  template <class Produce, class Process, class Consume>
  void work(int worker, Produce& produce, Process& process, Consume& consume) {
    while (Slot* slot = produce_next(produce)) {
      if (!slot->error) {
        try {
          process(worker, slot->item);
        } catch (...) {
          slot->error = std::current_exception();
        }
      }
      consume_done(*slot, consume);
    }
  }

  // Produces the next item, null at the end. A failure to produce is an item of its own, with the
  // error in it.
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

  // Whoever finds another thread consuming leaves its item to it.
  template <class Consume>
  void consume_done(Slot& own, Consume& consume) {
    std::unique_lock lock(mutex_);
    own.done = true;
    if (consuming_) {
      return;
    }
    consuming_ = true;
    for (Slot* next = &slot(consumed_); next->done && !error_; next = &slot(consumed_)) {
      lock.unlock();
      if (!next->error) {
        try {
          consume(next->item);
        } catch (...) {
          next->error = std::current_exception();
        }
      }
      lock.lock();
      next->done = false;
      error_ = next->error;
      ended_ = ended_ || error_;
      ++consumed_;
      changed_.notify_all();
    }
    consuming_ = false;
  }

  int workers_;
  std::vector<Slot> slots_;
  std::mutex produce_mutex_;
  std::mutex mutex_;  // guards everything below and Slot::done
  std::condition_variable changed_;
  Index produced_ = 0;
  Index consumed_ = 0;
  bool ended_ = false;
  bool consuming_ = false;
  std::exception_ptr error_;
};

}  // namespace mpitron::data

#include "emulator/units/grid.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <vector>

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include "emulator/device/failure.h"
#include "emulator/units/copy_barriers.h"
#include "emulator/units/kernel_language.h"
#include "emulator/units/race_detector.h"
#include "emulator/units/warpgroup_products.h"

namespace mpitron::emulator {
namespace {

using boost::context::fiber;

constexpr int kWarp = 32, kWarpgroup = 128, kMostWarps = 32;
constexpr std::size_t kStackBytes = 256 << 10;

enum class State { fresh, ready, at_warp, at_warpgroup, waiting, at_block, ended };

struct Thread {
  uint3 index{};
  State state = State::fresh;
  fiber paused;                                  // where it goes on
  void* brought = nullptr;                       // to a meeting of its warp or warpgroup
  TogetherFunction together = nullptr;           // which meeting
  const std::function<bool()>* until = nullptr;  // of one that waits
  const char* waits_for = nullptr;
  unsigned block_meetings = 0, warp_meetings = 0;  // so far
};

/// What a thread of this number keeps from block to block while races are detected.
struct OwnWorker {
  WatchedThread watched = new_watched_thread();
  fiber idle;
};

/// Runs grids on one thread of the host. A worker is a fiber that runs threads of the block to
/// their ends, one after another, until one pauses; so threads that never meet cost no switch.
/// Where races are detected each thread has a worker, whose stack nobody else uses.
class Processor {
 public:
  void run(const Grid& grid, const std::function<void()>& body) {
    scheduler_watched_ = this_watched_thread();
    const Unwatched moves_what_threads_hold;
    grid_ = &grid;
    body_ = &body;
    gridDim = grid.blocks;
    blockDim = grid.threads;
    number_threads();
    shared_.resize(grid.shared_bytes + kSharedWindow + kSharedAlignment);
    std::uint64_t number = 0;
    for (blockIdx.z = 0; blockIdx.z < grid.blocks.z; ++blockIdx.z) {
      for (blockIdx.y = 0; blockIdx.y < grid.blocks.y; ++blockIdx.y) {
        for (blockIdx.x = 0; blockIdx.x < grid.blocks.x; ++blockIdx.x) {
          run_block(number++);
        }
      }
    }
  }

  void pause(State state) {
    threads_[current_].state = state;
    const std::size_t self = current_;
    scheduler_ = std::move(scheduler_).resume();
    enter(self);
  }
  void meet_block() {
    const char* const place = &block_meetings_[threads_[current_].block_meetings++ % 2];
    publish(place);
    pause(State::at_block);
    observe(place);
  }
  void meet_warp_with_memory() {
    const char* const place =
        &warp_meetings_[current_ / kWarp][threads_[current_].warp_meetings++ % 2];
    int nothing = 0;
    publish(place);
    meet_warp(nothing, [](int* const*) {});
    observe(place);
  }
  void pause_at(State meeting, void* brought, TogetherFunction together) {
    threads_[current_].brought = brought;
    threads_[current_].together = together;
    pause(meeting);
  }
  void wait_until(const std::function<bool()>& ready, const char* what) {
    threads_[current_].until = &ready;
    threads_[current_].waits_for = what;
    pause(State::waiting);
  }

  /// Where the addresses within shared memory begin.
  unsigned char* shared_window() {
    const auto address = reinterpret_cast<std::uintptr_t>(shared_.data());
    return shared_.data() + (kSharedWindow - address % kSharedWindow) % kSharedWindow;
  }
  unsigned char* shared() { return shared_window() + kSharedAlignment; }
  std::uint32_t shared_address(const void* place) {
    const auto* const byte = static_cast<const unsigned char*>(place);
    if (byte < shared() || byte >= shared() + grid_->shared_bytes) {
      fail_here("an address is not of the block's dynamic shared memory");
    }
    return static_cast<std::uint32_t>(byte - shared_window());
  }
  unsigned char* at_shared_address(std::size_t address, std::size_t bytes) {
    if (address < kSharedAlignment || address + bytes > kSharedAlignment + grid_->shared_bytes) {
      fail_here("an address is not of the block's dynamic shared memory");
    }
    return shared_window() + address;
  }
  bool odd_block() const { return block_ % 2 == 1; }
  std::size_t thread() const { return current_; }
  std::size_t warpgroup() const { return current_ / kWarpgroup; }

  [[noreturn]] void fail_at(std::size_t thread, const std::string& message) const {
    std::ostringstream text;
    const uint3 index = threads_[thread].index;
    text << "kernel " << name_of_function(grid_->kernel) << ", block (" << blockIdx.x << ", "
         << blockIdx.y << ", " << blockIdx.z << "), thread (" << index.x << ", " << index.y << ", "
         << index.z << "): " << message;
    fail(text.str());
  }
  [[noreturn]] void fail_here(const char* message) const { fail_at(current_, message); }

 private:
  // Dynamic shared memory is aligned to 128 bytes, and to no more.
  static constexpr std::size_t kSharedWindow = 1024, kSharedAlignment = 128;

  void number_threads() {
    const dim3& n = grid_->threads;
    threads_.resize(static_cast<std::size_t>(n.x) * n.y * n.z);
    if (detects_races() && own_workers_.size() < threads_.size()) {
      own_workers_.resize(threads_.size());
    }
    for (unsigned i = 0; i < threads_.size(); ++i) {
      threads_[i].index = {i % n.x, i / n.x % n.y, i / n.x / n.y};
    }
  }
  void enter(std::size_t thread) {
    current_ = thread;
    threadIdx = threads_[thread].index;
    if (detects_races()) {
      watch(own_workers_[thread].watched);
    }
  }

  void run_block(std::uint64_t number) {
    for (Thread& thread : threads_) {
      thread.state = State::fresh;
      thread.block_meetings = thread.warp_meetings = 0;
    }
    publish(&block_begins_);
    std::memset(shared_.data(), 0xff, shared_.size());
    block_ = number;
    begin_block_of_barriers();
    begin_block_of_products();
    const std::size_t warps = (threads_.size() + kWarp - 1) / kWarp;
    for (std::uint64_t phase = number;; ++phase) {
      backwards_ = phase % 2 == 1;
      for (std::size_t i = 0; i < warps; ++i) {
        run_warp((backwards_ ? warps - 1 - i : i) * kWarp);
      }
      const bool met = meet_warpgroups(), woken = wake();
      if (!met && !woken && !copy_next_box() && all_ended()) {
        end_block_of_products();
        observe(&block_ends_);
        return;
      }
    }
  }

  /// Whether a warpgroup has met; then its threads are ready again.
  bool meet_warpgroups() {
    bool any = false;
    for (std::size_t first = 0; first < threads_.size(); first += kWarpgroup) {
      void* brought[kWarpgroup];
      std::size_t here = 0, missing = first;
      TogetherFunction together = nullptr;
      const std::size_t end = std::min(first + kWarpgroup, threads_.size());
      for (std::size_t i = first; i < end; ++i) {
        if (threads_[i].state != State::at_warpgroup) {
          missing = i;
          continue;
        }
        if (here > 0 && threads_[i].together != together) {
          fail_at(i, "met threads of its warpgroup that execute another instruction");
        }
        together = threads_[i].together;
        brought[here++] = threads_[i].brought;
      }
      if (here == kWarpgroup) {
        current_ = first;
        together(brought);
        make_ready(first, end);
        any = true;
      } else if (here > 0 && (end - first < kWarpgroup || leaves(missing))) {
        fail_at(missing, "is missing where the other threads of its warpgroup meet");
      }
    }
    return any;
  }
  bool leaves(std::size_t thread) const {
    const State state = threads_[thread].state;
    return state == State::at_block || state == State::ended;
  }
  void make_ready(std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      threads_[i].state = State::ready;
    }
  }

  /// Whether a thread that waited has what it waits for.
  bool wake() {
    bool any = false;
    for (Thread& thread : threads_) {
      if (thread.state == State::waiting && (*thread.until)()) {
        thread.state = State::ready;
        any = true;
      }
    }
    return any;
  }

  /// Whether the block has ended; else all threads have met, and are ready again.
  bool all_ended() {
    std::size_t ended = 0;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const State state = threads_[i].state;
      if (state == State::waiting) {
        fail_at(i, std::string("waits for ever for ") + threads_[i].waits_for);
      }
      if (state == State::at_warp || state == State::at_warpgroup) {
        fail_at(i, "waits for ever for other threads of its warp or warpgroup");
      }
      ended += state == State::ended ? 1 : 0;
    }
    if (ended == threads_.size()) {
      return true;
    }
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (threads_[i].state == State::ended) {
        fail_at(i, "ended before a barrier that other threads of the block wait at");
      }
      threads_[i].state = State::ready;
    }
    return false;
  }

  /// Until every lane has ended or waits for others than those of its warp.
  void run_warp(std::size_t first) {
    begin_ = first;
    end_ = std::min(first + kWarp, threads_.size());
    do {
      next_ = 0;
      while (run_next_lanes_on_a_worker()) {
      }
    } while (meet(first));
  }

  /// The next lane of the warp that can run, in the order of this phase; false where none is left.
  bool next_lane(std::size_t& lane) {
    while (next_ < end_ - begin_) {
      lane = backwards_ ? end_ - 1 - next_ : begin_ + next_;
      const State state = threads_[lane].state;
      if (state == State::fresh || state == State::ready) {
        return true;
      }
      ++next_;
    }
    return false;
  }

  bool run_next_lanes_on_a_worker() {
    std::size_t lane = 0;
    if (!next_lane(lane)) {
      return false;
    }
    fiber worker =
        threads_[lane].state == State::ready ? std::move(threads_[lane].paused) : idle_worker(lane);
    ++next_;
    enter(lane);
    worker = std::move(worker).resume();
    watch(scheduler_watched_);
    // The worker has come back with a thread that pauses, or with none.
    Thread& thread = threads_[current_];
    if (thread.state != State::ended) {
      thread.paused = std::move(worker);
    } else if (detects_races()) {
      own_workers_[current_].idle = std::move(worker);
    } else {
      idle_.push_back(std::move(worker));
    }
    return true;
  }

  fiber idle_worker(std::size_t thread) {
    if (detects_races() && own_workers_[thread].idle) {
      return std::move(own_workers_[thread].idle);
    }
    if (!idle_.empty()) {
      fiber worker = std::move(idle_.back());
      idle_.pop_back();
      return worker;
    }
    return {std::allocator_arg, boost::context::protected_fixedsize_stack(kStackBytes),
            [this](fiber&& scheduler) { return work(std::move(scheduler)); }};
  }

  /// A worker's life: the thread it was woken for, then those that have not begun.
  fiber work(fiber&& scheduler) {
    scheduler_ = std::move(scheduler);
    for (;;) {
      observe(&block_begins_);
      (*body_)();
      publish(&block_ends_);
      threads_[current_].state = State::ended;
      std::size_t lane = 0;
      if (!detects_races() && next_lane(lane) && threads_[lane].state == State::fresh) {
        ++next_;
        enter(lane);
      } else {
        scheduler_ = std::move(scheduler_).resume();
      }
    }
  }

  /// Whether the lanes met; then all are ready again.
  bool meet(std::size_t first) {
    void* brought[kWarp];
    TogetherFunction together = nullptr;
    std::size_t waiting = 0, missing = first;
    bool later = false;  // others may still come
    for (std::size_t i = begin_; i < end_; ++i) {
      if (threads_[i].state != State::at_warp) {
        missing = i;
        later = later || !leaves(i);
        continue;
      }
      if (waiting++ > 0 && threads_[i].together != together) {
        fail_at(i, "met lanes of its warp that execute another instruction");
      }
      together = threads_[i].together;
      brought[i - first] = threads_[i].brought;
    }
    if (waiting == 0 || later) {
      return false;
    }
    if (waiting < kWarp) {
      fail_at(missing, "is missing where the other lanes of its warp meet");
    }
    together(brought);
    make_ready(begin_, end_);
    return true;
  }

  const Grid* grid_ = nullptr;
  const std::function<void()>* body_ = nullptr;
  std::vector<Thread> threads_;
  std::vector<unsigned char> shared_;
  std::uint64_t block_ = 0;
  std::size_t current_ = 0, begin_ = 0, end_ = 0, next_ = 0;
  bool backwards_ = false;
  fiber scheduler_;
  std::vector<fiber> idle_;
  std::vector<OwnWorker> own_workers_;
  WatchedThread scheduler_watched_ = nullptr;
  // Places of barriers: two of a kind, since a thread may come to the next one before another has
  // left this one.
  char block_begins_ = 0, block_ends_ = 0, block_meetings_[2] = {},
       warp_meetings_[kMostWarps][2] = {};
};

Processor& processor() {
  thread_local Processor own;
  return own;
}

}  // namespace

void run_grid(const Grid& grid, const std::function<void()>& body) {
  processor().run(grid, body);
}
void meet_block() {
  processor().meet_block();
}
void meet_warp_with_memory() {
  processor().meet_warp_with_memory();
}
void meet_warp(void* mine, TogetherFunction together) {
  processor().pause_at(State::at_warp, mine, together);
}
void meet_warpgroup(void* mine, TogetherFunction together) {
  processor().pause_at(State::at_warpgroup, mine, together);
}
void wait_until(const std::function<bool()>& ready, const char* what) {
  if (!ready()) {
    processor().wait_until(ready, what);
  }
}
unsigned char* dynamic_shared_memory() {
  return processor().shared();
}
std::uint32_t shared_address(const void* place) {
  return processor().shared_address(place);
}
unsigned char* at_shared_address(std::size_t address, std::size_t bytes) {
  return processor().at_shared_address(address, bytes);
}
bool odd_block() {
  return processor().odd_block();
}
std::size_t warpgroup_number() {
  return processor().warpgroup();
}
std::size_t thread_number() {
  return processor().thread();
}
void fail_thread(const char* message) {
  processor().fail_here(message);
}

}  // namespace mpitron::emulator

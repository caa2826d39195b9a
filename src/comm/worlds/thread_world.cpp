#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "comm/groups/world.h"
#include "comm/shared/shared_group.h"

// Ranks as threads of one process, for tests: the same groups and tables as ranks of a node, in one
// address space.

namespace mpitron::comm {
namespace {

/// State that the ranks have in common: the tables of their groups, and whether one has failed.
class ThreadHub {
 public:
  /// The first thread that asks makes the table, the others find it.
  SharedTable table(const std::string& name, const std::vector<Index>& ranks) {
    const std::lock_guard lock(mutex_);
    auto& memory = tables_[{name, ranks}];
    if (memory == nullptr) {
      memory = std::make_unique<std::max_align_t[]>(
          SharedTable::bytes(static_cast<Index>(ranks.size())) / sizeof(std::max_align_t) + 1 + 4);
    }
    void* start = memory.get();
    std::size_t space = SharedTable::bytes(static_cast<Index>(ranks.size())) + 64;
    return {std::align(64, 1, start, space), static_cast<Index>(ranks.size())};
  }

  /// Keeps the first error; what others throw follows from it.
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (error_ == nullptr) {
      error_ = std::move(error);
    }
    failed_ = true;
  }
  bool failed() const { return failed_; }
  void rethrow() const {
    if (error_ != nullptr) {
      std::rethrow_exception(error_);
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::vector<Index>>, std::unique_ptr<std::max_align_t[]>> tables_;
  std::exception_ptr error_;
  std::atomic<bool> failed_ = false;
};

/// Lets threads see the same addresses.
class OneAddressSpace final : public AddressSpaces {
 public:
  explicit OneAddressSpace(const ThreadHub& hub) : hub_(hub) {}
  bool reachable(const void*) const override { return true; }
  device::Allocator& staging() override { return unused_; }
  std::uintptr_t publish(const void* memory) override {
    return reinterpret_cast<std::uintptr_t>(memory);
  }
  void* reach(Index, std::uintptr_t address) override { return reinterpret_cast<void*>(address); }
  void check_alive() override {
    if (hub_.failed()) {
      throw InternalError("another rank has failed");
    }
  }

 private:
  const ThreadHub& hub_;
  device::CachingHostAllocator unused_;
};

/// Shows the world to one of the threads.
class ThreadWorld final : public World {
 public:
  ThreadWorld(ThreadHub& hub, Index rank, Index size)
      : hub_(hub),
        rank_(rank),
        size_(size),
        fabric_{std::make_shared<OneAddressSpace>(hub), std::make_shared<ProgressEngine>()} {}

  Index rank() const override { return rank_; }
  Index size() const override { return size_; }
  void progress() override { fabric_.engine->progress(); }
  std::shared_ptr<ProgressEngine> engine() override { return fabric_.engine; }
  /// Null where this rank is no member.
  std::shared_ptr<Group> make_group(const std::string& name,
                                    const std::vector<Index>& ranks) override {
    auto& group = groups_[{name, ranks}];
    if (group == nullptr) {
      const auto place = std::find(ranks.begin(), ranks.end(), rank_);
      MPITRON_CHECK(place != ranks.end(), name, rank_);
      group = std::make_shared<SharedGroup>(name, ranks, place - ranks.begin(),
                                            hub_.table(name, ranks), fabric_);
    }
    return group;
  }

 private:
  ThreadHub& hub_;
  Index rank_;
  Index size_;
  SharedGroup::Fabric fabric_;
  std::map<std::pair<std::string, std::vector<Index>>, std::shared_ptr<SharedGroup>> groups_;
};

}  // namespace

/// A thread for each rank; the first exception of any is thrown here when all have ended.
void run_thread_world(Index size, const std::function<void(World&)>& body) {
  ThreadHub hub;
  std::vector<std::thread> threads;
  for (Index rank = 0; rank < size; ++rank) {
    threads.emplace_back([&hub, &body, rank, size] {
      ThreadWorld world(hub, rank, size);
      try {
        body(world);
      } catch (...) {
        hub.fail(std::current_exception());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  hub.rethrow();
}

}  // namespace mpitron::comm

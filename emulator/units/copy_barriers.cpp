// Emulates mbarrier, named barriers and box copies of a block. A copy runs as late as possible in
// even blocks, where a missing wait for it shows, and at once in odd ones, where it shows that its
// place was still in use.
#include "emulator/units/copy_barriers.h"

#include <cstring>
#include <deque>
#include <map>

#include "emulator/units/grid.h"
#include "emulator/units/race_detector.h"

namespace mpitron::emulator {
namespace {

struct Barrier {
  int arrivals = 0, open_arrivals = 0;  // of every phase, and of this one
  std::int64_t open_bytes = 0;          // expected but not copied yet; negative: the reverse
  unsigned phase = 0;                   // how many have ended
  bool fenced = false;

  void end_phase_if_complete() {
    if (open_arrivals == 0 && open_bytes == 0) {
      open_arrivals = arrivals;
      ++phase;
    }
  }
};

struct NamedBarrier {
  int threads = 0, arrived = 0;
  unsigned phase = 0;
};

struct Box {
  unsigned char* to;
  TensorMap map;
  const void* barrier;
  std::int64_t at[TensorMap::kRank];

  std::int64_t bytes() const {
    std::int64_t result = 2;
    for (const std::uint32_t size : map.box) {
      result *= size;
    }
    return result;
  }
};

constexpr int kNamedBarriers = 16;

/// Names a phase of a barrier to the race detector, by one of the object's first two bytes.
template <class Barrier>
const void* place_of(const Barrier& barrier, unsigned phase) {
  return reinterpret_cast<const char*>(&barrier) + phase % 2;
}

constexpr std::int64_t kRowBytes = 128;

struct BlockBarriers {
  std::map<const void*, Barrier> barriers;
  NamedBarrier named[kNamedBarriers];
  std::deque<Box> boxes;

  Barrier& at(const void* place) {
    const auto found = barriers.find(place);
    if (found == barriers.end() || !found->second.fenced) {
      fail_thread("a barrier in shared memory is used that nobody has initialised and fenced");
    }
    return found->second;
  }
};

BlockBarriers& block() {
  static thread_local BlockBarriers only;
  return only;
}

/// Returns the element of the box at these distances from its corner: null outside of the tensor,
/// where the copy writes zeros.
const unsigned char* element_of(const Box& box, const std::uint32_t (&i)[TensorMap::kRank]) {
  std::uint64_t address = box.map.data;
  for (int k = 0; k < TensorMap::kRank; ++k) {
    const std::int64_t at = box.at[k] + i[k];
    if (at < 0 || at >= static_cast<std::int64_t>(box.map.size[k])) {
      return nullptr;
    }
    address += static_cast<std::uint64_t>(at) * (k == 0 ? 2 : box.map.stride[k - 1]);
  }
  return reinterpret_cast<const unsigned char*>(address);
}

/// Copies a box. Rows of 128 bytes follow each other; in row r chunk i of 16 bytes lies at i ^ r %
/// 8.
void execute(const Box& box) {
  const std::uint32_t(&size)[TensorMap::kRank] = box.map.box;
  std::uint32_t i[TensorMap::kRank] = {};
  std::int64_t row = 0;
  for (i[4] = 0; i[4] < size[4]; ++i[4]) {
    for (i[3] = 0; i[3] < size[3]; ++i[3]) {
      for (i[2] = 0; i[2] < size[2]; ++i[2]) {
        for (i[1] = 0; i[1] < size[1]; ++i[1], ++row) {
          for (i[0] = 0; i[0] < size[0]; ++i[0]) {
            const std::int64_t chunk = (i[0] / 8) ^ (row % 8);
            const unsigned char* from = element_of(box, i);
            unsigned char* const to = box.to + row * kRowBytes + chunk * 16 + i[0] % 8 * 2;
            from != nullptr ? std::memcpy(to, from, 2) : std::memset(to, 0, 2);
          }
        }
      }
    }
  }
  Barrier& barrier = block().at(box.barrier);
  barrier.open_bytes -= box.bytes();
  barrier.end_phase_if_complete();
}

NamedBarrier& arrive(int id, int threads) {
  if (id < 1 || id >= kNamedBarriers || threads <= 0 || threads % 32 != 0) {
    fail_thread("a named barrier has a number from 1 to 15 and whole warps");
  }
  NamedBarrier& barrier = block().named[id];
  if (barrier.arrived > 0 && barrier.threads != threads) {
    fail_thread("threads disagree about how many a named barrier has");
  }
  barrier.threads = threads;
  publish(place_of(barrier, barrier.phase));
  if (++barrier.arrived == threads) {
    barrier.arrived = 0;
    ++barrier.phase;
  }
  return barrier;
}

}  // namespace

void init_barrier(const void* barrier, int arrivals) {
  if (shared_address(barrier) % 8 != 0 || arrivals <= 0) {
    fail_thread("a barrier in shared memory is aligned to 8 bytes and expects arrivals");
  }
  block().barriers[barrier] = {.arrivals = arrivals, .open_arrivals = arrivals};
}

void fence_barriers_of_thread() {
  for (auto& [place, barrier] : block().barriers) {
    barrier.fenced = true;
  }
}

void arrive_at_barrier(const void* place, std::int64_t bytes_to_expect) {
  Barrier& barrier = block().at(place);
  barrier.open_bytes += bytes_to_expect;
  --barrier.open_arrivals;
  if (barrier.open_arrivals < 0) {
    fail_thread("arrives at a barrier in shared memory whose phase has all its arrivals");
  }
  publish(place_of(barrier, barrier.phase));
  barrier.end_phase_if_complete();
}

void wait_for_barrier(const void* place, int parity) {
  Barrier& barrier = block().at(place);
  wait_until([&] { return barrier.phase % 2 != static_cast<unsigned>(parity); },
             "a barrier in shared memory");
  observe(place_of(barrier, static_cast<unsigned>(parity)));
}

void copy_box_later(void* shared, const CUtensorMap& map, const void* barrier, const int (&at)[5]) {
  const Unwatched keeps_books_of_all_threads;
  Box box{static_cast<unsigned char*>(shared), {}, barrier, {}};
  std::memcpy(&box.map, &map, sizeof box.map);
  if (box.map.mark != TensorMap::kMark) {
    fail_thread("a copy is given a tensor map that nobody has encoded");
  }
  if (shared_address(shared) % 1024 != 0) {
    fail_thread("a copied box begins at a multiple of 1024 bytes in shared memory");
  }
  at_shared_address(shared_address(shared), static_cast<std::size_t>(box.bytes()));
  std::copy(at, at + TensorMap::kRank, box.at);
  block().at(barrier);
  block().boxes.push_back(box);
  if (odd_block()) {
    copy_next_box();
  }
}

void meet_at_named_barrier(int id, int threads) {
  const unsigned phase = block().named[id % kNamedBarriers].phase;
  const NamedBarrier& barrier = arrive(id, threads);
  wait_until([&] { return barrier.phase != phase; }, "a named barrier");
  observe(place_of(barrier, phase));
}
void arrive_at_named_barrier(int id, int threads) {
  arrive(id, threads);
}

void begin_block_of_barriers() {
  block() = {};
}
bool copy_next_box() {
  if (block().boxes.empty()) {
    return false;
  }
  const Box box = block().boxes.front();
  block().boxes.pop_front();
  execute(box);
  return true;
}

}  // namespace mpitron::emulator

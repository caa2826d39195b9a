// Emulates cp.async by putting copies off to the wait that needs them; their places hold NaN until
// then.
#include "emulator/units/async_copies.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "emulator/units/grid.h"

namespace mpitron::emulator {
namespace {

constexpr std::size_t kMostThreads = 1024, kBytes = 16;

struct Copy {
  void* to;
  const void* from;
  int bytes;
};

/// Copies of one thread: those of each group, and those of none yet.
struct AsyncCopies {
  std::deque<std::vector<Copy>> groups;
  std::vector<Copy> open;

  static AsyncCopies& of_this_thread() {
    static thread_local std::array<AsyncCopies, kMostThreads> all;
    return all[thread_number()];
  }
};

}  // namespace

void begin_copy(void* shared, const void* global, int bytes) {
  if (reinterpret_cast<std::uintptr_t>(shared) % kBytes != 0 ||
      reinterpret_cast<std::uintptr_t>(global) % kBytes != 0 || bytes < 0 ||
      static_cast<std::size_t>(bytes) > kBytes) {
    fail_thread("copy_async of other than 16 aligned bytes");
  }
  std::memset(shared, 0xff, kBytes);
  AsyncCopies::of_this_thread().open.push_back({shared, global, bytes});
}

void commit_copies() {
  AsyncCopies& copies = AsyncCopies::of_this_thread();
  copies.groups.push_back(std::exchange(copies.open, {}));
}

void wait_for_copies(int open) {
  auto& groups = AsyncCopies::of_this_thread().groups;
  for (; groups.size() > static_cast<std::size_t>(open); groups.pop_front()) {
    for (const Copy& copy : groups.front()) {
      unsigned char bytes[kBytes] = {};
      std::memcpy(bytes, copy.from, static_cast<std::size_t>(copy.bytes));
      std::memcpy(copy.to, bytes, kBytes);
    }
  }
}

}  // namespace mpitron::emulator

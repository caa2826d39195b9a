#include "checkpoint/write/background_writer.h"

#include <cstring>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

namespace mpitron::checkpoint {
namespace background_writer_test {

TEST(CopyQueue, EveryByteIsThereWhoeverCopiesIt) {
  constexpr Index kPiece = 5000;  // not a multiple of a vector
  std::vector<std::uint32_t> from(1 << 18), to(from.size());
  std::iota(from.begin(), from.end(), 1u);
  const auto bytes = static_cast<Index>(from.size() * sizeof(from[0]));
  for (int round = 0; round < 20; ++round) {
    std::fill(to.begin(), to.end(), 0u);
    std::vector<CopyQueue::Copy> copies;
    for (Index at = 0; at < bytes; at += kPiece) {
      copies.push_back({reinterpret_cast<std::byte*>(to.data()) + at,
                        reinterpret_cast<const std::byte*>(from.data()) + at,
                        std::min(kPiece, bytes - at)});
    }
    CopyQueue queue(std::move(copies));
    const std::jthread helper([&] { queue.work(); });
    queue.finish();
    ASSERT_EQ(to, from) << "round " << round;
  }
}

TEST(CopyQueue, NothingIsDoneAtOnce) {
  EXPECT_NO_THROW(CopyQueue({}).finish());
}

}  // namespace background_writer_test
}  // namespace mpitron::checkpoint

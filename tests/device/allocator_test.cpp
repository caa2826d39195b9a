#include "device/allocator.h"

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace mpitron::device {
namespace allocator_test {

struct Block {
  void* memory;
  std::size_t capacity;
};

Block take(CachingHostAllocator& allocator, std::size_t bytes) {
  Block block{};
  block.memory = allocator.allocate(bytes, block.capacity);
  return block;
}

TEST(CachingHostAllocator, BlocksAreLargeEnoughAlignedAndApart) {
  CachingHostAllocator allocator;
  std::vector<Block> blocks;
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 1000, 4096, 70'000, 2 << 20, (2 << 20) + 1}) {
    const Block block = take(allocator, bytes);
    EXPECT_GE(block.capacity, std::max<std::size_t>(bytes, 1));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.memory) % 64, 0u) << bytes;
    std::memset(block.memory, static_cast<int>(blocks.size()), block.capacity);
    blocks.push_back(block);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(blocks[i].memory);
    EXPECT_EQ(std::set<unsigned char>(bytes, bytes + blocks[i].capacity).size(), 1u) << i;
    EXPECT_EQ(bytes[0], i);
  }
}

/// Eight size classes an octave: no block wastes more than 1/8 of what was asked for.
TEST(CachingHostAllocator, RoundsUpByAnEighthAtMost) {
  CachingHostAllocator allocator;
  for (std::size_t bytes = 512; bytes < (2 << 20); bytes += bytes / 5 + 1) {
    const Block block = take(allocator, bytes);
    EXPECT_LE(block.capacity, bytes + bytes / 8) << bytes;
    allocator.release(block.memory, block.capacity);
  }
}

TEST(CachingHostAllocator, LargeBlocksAreWholeHugePages) {
  CachingHostAllocator allocator;
  const Block block = take(allocator, (4 << 20) + 5);
  EXPECT_EQ(block.capacity, std::size_t{6} << 20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.memory) % (2 << 20), 0u);
}

TEST(CachingHostAllocator, HandsAReleasedBlockOutAgainForItsSizeClass) {
  CachingHostAllocator allocator;
  const Block first = take(allocator, 100'000);
  allocator.release(first.memory, first.capacity);
  const Block other_class = take(allocator, 200'000);
  EXPECT_NE(other_class.memory, first.memory);
  const Block again = take(allocator, 99'990);
  EXPECT_EQ(again.memory, first.memory);
  EXPECT_EQ(again.capacity, first.capacity);
}

TEST(CachingHostAllocator, CountsWhatIsInUseReservedAndTakenFromTheSystem) {
  CachingHostAllocator allocator;
  const Block a = take(allocator, 100'000), b = take(allocator, 300'000);
  const auto used = static_cast<Index>(a.capacity + b.capacity);
  EXPECT_EQ(allocator.statistics().bytes_in_use, used);
  EXPECT_EQ(allocator.statistics().high_water, used);
  EXPECT_GE(allocator.statistics().bytes_reserved, used);
  EXPECT_EQ(allocator.statistics().system_allocations, 2);
  allocator.release(a.memory, a.capacity);
  allocator.release(b.memory, b.capacity);
  const AllocatorStatistics emptied = allocator.statistics();
  EXPECT_EQ(emptied.bytes_in_use, 0);
  EXPECT_EQ(emptied.high_water, used);
  // The same requests again: a steady step.
  take(allocator, 300'000), take(allocator, 100'000);
  EXPECT_EQ(allocator.statistics().system_allocations, emptied.system_allocations);
  EXPECT_EQ(allocator.statistics().bytes_reserved, emptied.bytes_reserved);
  EXPECT_EQ(allocator.statistics().high_water, used);
}

/// One mapping serves many small blocks.
TEST(CachingHostAllocator, SmallBlocksShareSystemAllocations) {
  CachingHostAllocator allocator;
  std::set<void*> blocks;
  for (int i = 0; i < 100; ++i) {
    blocks.insert(take(allocator, 64).memory);
  }
  EXPECT_EQ(blocks.size(), 100u);
  EXPECT_EQ(allocator.statistics().system_allocations, 1);
}

/// A machine with room for so many bytes, which takes pages back.
class SmallMachine final : public PageSource {
 public:
  explicit SmallMachine(std::size_t bytes) : free_(bytes) {}
  void* take(std::size_t bytes) override {
    if (bytes > free_) {
      return nullptr;
    }
    free_ -= bytes;
    return pages_->take(bytes);
  }
  bool give_back(void*, std::size_t bytes) noexcept override {
    free_ += bytes;
    return true;
  }

 private:
  std::size_t free_;
  std::unique_ptr<PageSource> pages_ = private_pages();
};

TEST(CachingAllocator, GivesUnusedBlocksBackBeforeItGivesUp) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  CachingAllocator allocator(std::make_unique<SmallMachine>(10 * kMiB), 512,
                             [](std::size_t bytes, const AllocatorStatistics& now) {
                               throw std::pair(bytes, now.bytes_in_use);
                             });
  const auto take = [&](std::size_t bytes) {
    Block block{};
    block.memory = allocator.allocate(bytes, block.capacity);
    return block;
  };
  const Block small = take(600);
  EXPECT_EQ(small.capacity, 1024u);
  const Block first = take(6 * kMiB);
  allocator.release(first.memory, first.capacity);
  take(8 * kMiB);  // only where the 6 MiB are given back
  EXPECT_EQ(allocator.statistics().bytes_in_use, static_cast<Index>(8 * kMiB + 1024));
  EXPECT_EQ(allocator.statistics().bytes_reserved, static_cast<Index>(8 * kMiB + 64 * 1024));
  try {
    take(4 * kMiB);
    FAIL();
  } catch (const std::pair<std::size_t, Index>& failure) {
    EXPECT_EQ(failure.first, 4 * kMiB);
    EXPECT_EQ(failure.second, static_cast<Index>(8 * kMiB + 1024));
  }
}

TEST(BackWithMemory, TakesEveryPageAndKeepsWhatIsThere) {
  constexpr std::size_t kMiB = std::size_t{1} << 20, kPage = 4096, kBegin = 5000, kBytes = 100'000;
  const auto pages = reserved_pages();
  char* const memory = static_cast<char*>(pages->take(kMiB));
  ASSERT_NE(memory, nullptr);
  memory[kBegin] = 7;
  back_with_memory(memory + kBegin, kBytes);
  EXPECT_EQ(memory[kBegin], 7);
  std::vector<unsigned char> resident(kMiB / kPage);
  ASSERT_EQ(::mincore(memory, kMiB, resident.data()), 0);
  for (std::size_t page = 0; page < resident.size(); ++page) {
    const bool wanted = page >= kBegin / kPage && page <= (kBegin + kBytes - 1) / kPage;
    EXPECT_EQ((resident[page] & 1) != 0, wanted) << page;
  }
}

}  // namespace allocator_test
}  // namespace mpitron::device

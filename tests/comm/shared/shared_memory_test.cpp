#include "comm/shared/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/allocator.h"
#include "utils/error.h"

namespace mpitron::comm {
namespace shared_memory_test {

TEST(SharedMemory, AnotherProcessSeesTheSameBytes) {
  const auto memory = SharedMemory::create(std::size_t{1} << 36);  // reserved, not taken
  memory->data()[12345] = std::byte{42};
  const pid_t owner = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto opened = SharedMemory::open(owner, memory->descriptor(), memory->bytes());
    const bool same = opened != nullptr && opened->data() != memory->data() &&
                      opened->data()[12345] == std::byte{42};
    if (opened != nullptr) {
      opened->data()[std::size_t{1} << 35] = std::byte{43};
    }
    ::_exit(same ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(memory->data()[std::size_t{1} << 35], std::byte{43});
}

TEST(SharedMemory, WhatIsNotThereCannotBeOpened) {
  EXPECT_EQ(SharedMemory::open(::getpid(), 9999, 4096), nullptr);
}

TEST(SharedPages, AnAllocatorOfThemStaysInside) {
  const auto memory = SharedMemory::create(std::size_t{16} << 20);
  const auto taken = std::make_shared<std::size_t>(100);
  device::CachingHostAllocator allocator(std::make_unique<SharedPages>(memory, taken));
  std::size_t capacity = 0;
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{5'000}, std::size_t{3} << 20}) {
    void* const block = allocator.allocate(bytes, capacity);
    EXPECT_TRUE(memory->contains(block));
    EXPECT_GE(static_cast<std::byte*>(block) - memory->data(), 100);
    allocator.release(block, capacity);
  }
  EXPECT_THROW(allocator.allocate(std::size_t{16} << 20, capacity), Error);
}

}  // namespace shared_memory_test
}  // namespace mpitron::comm

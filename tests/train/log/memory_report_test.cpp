#include "train/log/memory_report.h"

#include <vector>

#include <gtest/gtest.h>

#include "support/far_device.h"
#include "tensor/tensor.h"

namespace mpitron::train {

TEST(MemoryReport, ParsesTheStatusFile) {
  const MemoryUse memory = parse_process_status(
      "Name:\tmpitron\nVmPeak:\t  999 kB\nVmHWM:\t  2048 kB\nVmRSS:\t   1024 kB\nThreads:\t1\n");
  EXPECT_EQ(memory.allocated, 1024 * 1024);
  EXPECT_EQ(memory.max_allocated, 2048 * 1024);
  EXPECT_EQ(parse_process_status("").allocated, 0);
  EXPECT_EQ(parse_process_status("\nVmRSS:").allocated, 0);
}

TEST(MemoryReport, SeesAnAllocation) {
  const MemoryUse before = process_memory();
  ASSERT_GT(before.allocated, 0);
  ASSERT_GE(before.max_allocated, before.allocated);
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const std::vector<char> block(kBytes, 1);
  EXPECT_GE(process_memory().allocated - before.allocated, static_cast<Index>(kBytes * 9 / 10));
  EXPECT_EQ(block.back(), 1);
}

TEST(MemoryReport, Line) {
  EXPECT_EQ(memory_line(3, 100, {.allocated = 13107200, .max_allocated = 13631488}),
            "[Rank 3] (after 100 iterations) memory (MB) | allocated: 12.5 | max allocated: 13.0");
}

TEST(MemoryReport, OfADeviceIsWhatItsTensorsTake) {
  const auto far = test::make_far_device();
  {
    const tensor::Tensor x = tensor::Tensor::empty(*far, {1 << 20}, DType::f32);
    EXPECT_EQ(memory_in_use(*far).allocated, 4 << 20);
  }
  const MemoryUse memory = memory_in_use(*far);
  EXPECT_EQ(memory.allocated, 0);
  EXPECT_EQ(memory.max_allocated, 4 << 20);
  EXPECT_EQ(memory_line(0, 10, memory),
            "[Rank 0] (after 10 iterations) memory (MB) | allocated: 0.0 | max allocated: 4.0 | "
            "reserved: 4.0");
  EXPECT_FALSE(memory_in_use(*device::make_device("host")).reserved);
}

TEST(MemoryReport, OfTheHostTellsTheMostThatTensorsTook) {
  const auto host = device::make_device("host");
  { const tensor::Tensor x = tensor::Tensor::empty(*host, {1 << 20}, DType::f32); }
  const MemoryUse memory = memory_in_use(*host);
  // The allocator rounds up to its next size.
  EXPECT_GE(memory.max_tensors, 4 << 20);
  EXPECT_LE(memory.max_tensors, 8 << 20);
  EXPECT_NE(memory_line(0, 1, memory).find(" | max tensors: "), std::string::npos);
}

}  // namespace mpitron::train

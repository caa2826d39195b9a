#include "train/memory_report.h"

#include <vector>

#include <gtest/gtest.h>

namespace mpitron::train {

TEST(MemoryReport, ParsesTheStatusFile) {
  const ProcessMemory memory = parse_process_status(
      "Name:\tmpitron\nVmPeak:\t  999 kB\nVmHWM:\t  2048 kB\nVmRSS:\t   1024 kB\nThreads:\t1\n");
  EXPECT_EQ(memory.resident, 1024 * 1024);
  EXPECT_EQ(memory.resident_peak, 2048 * 1024);
  EXPECT_EQ(parse_process_status("").resident, 0);
  EXPECT_EQ(parse_process_status("\nVmRSS:").resident, 0);
}

TEST(MemoryReport, SeesAnAllocation) {
  const ProcessMemory before = process_memory();
  ASSERT_GT(before.resident, 0);
  ASSERT_GE(before.resident_peak, before.resident);
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const std::vector<char> block(kBytes, 1);
  EXPECT_GE(process_memory().resident - before.resident, static_cast<Index>(kBytes * 9 / 10));
  EXPECT_EQ(block.back(), 1);
}

TEST(MemoryReport, Line) {
  EXPECT_EQ(memory_line(3, 100, {.resident = 13107200, .resident_peak = 13631488}),
            "[Rank 3] (after 100 iterations) memory (MB) | allocated: 12.5 | max allocated: 13.0");
}

}  // namespace mpitron::train

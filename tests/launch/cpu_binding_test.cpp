#include <algorithm>

#include <gtest/gtest.h>
#include <sched.h>

#include "launch/rank_place.h"

namespace mpitron::launch {
namespace cpu_binding_test {

TEST(CpuBinding, FollowsTheProcess) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  const CpuBinding all = cpu_binding();
  EXPECT_EQ(all.processors, CPU_COUNT(&before));
  ASSERT_FALSE(all.cores.empty());
  EXPECT_TRUE(std::is_sorted(all.cores.begin(), all.cores.end()));
  EXPECT_FALSE(all.numa.empty());

  cpu_set_t one;
  CPU_ZERO(&one);
  int first = 0;
  while (!CPU_ISSET(first, &before)) {
    ++first;
  }
  CPU_SET(first, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  const CpuBinding bound = cpu_binding();
  ::sched_setaffinity(0, sizeof(before), &before);
  EXPECT_EQ(bound.processors, 1);
  ASSERT_EQ(bound.cores.size(), 1U);
  EXPECT_EQ(bound.cores[0], all.cores[0]);
  EXPECT_EQ(cpu_binding(), all);
}

TEST(CpuBinding, KnowsItsLibrary) {
  const LibraryVersion version = hwloc_version();
  EXPECT_EQ(version.name, "hwloc API");
  EXPECT_EQ(std::count(version.running.begin(), version.running.end(), '.'), 2);
}

}  // namespace cpu_binding_test
}  // namespace mpitron::launch

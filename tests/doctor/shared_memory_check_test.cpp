#include <gtest/gtest.h>

#include "doctor/node_checks.h"

namespace mpitron::doctor {
namespace shared_memory_check_test {

constexpr Index kMiB = Index{1} << 20;

TEST(SharedMemoryCheck, EnoughIsFine) {
  const CheckResult result = check_shared_memory({true, 4096 * kMiB, 4000 * kMiB}, 8);
  EXPECT_EQ(result.verdict, Verdict::ok);
  EXPECT_EQ(result.found, "4096 MiB");
  EXPECT_EQ(result.advice, "");
}

TEST(SharedMemoryCheck, AContainersDefaultIsTooSmallForEightRanks) {
  const CheckResult two = check_shared_memory({true, 64 * kMiB, 64 * kMiB}, 2);
  EXPECT_EQ(two.verdict, Verdict::warn);
  EXPECT_NE(two.found.find("want 128"), std::string::npos) << two.found;
  EXPECT_NE(two.advice.find("--shm-size"), std::string::npos);
  const CheckResult eight = check_shared_memory({true, 64 * kMiB, 60 * kMiB}, 8);
  EXPECT_EQ(eight.verdict, Verdict::fail);
  EXPECT_NE(eight.found.find("60 free; 8 ranks need 64"), std::string::npos) << eight.found;
}

TEST(SharedMemoryCheck, WhatKilledJobsLeftIsNamed) {
  const CheckResult result = check_shared_memory({true, 4096 * kMiB, 2 * kMiB}, 1);
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_NE(result.advice.find("vader_segment"), std::string::npos);
}

TEST(SharedMemoryCheck, NoneFails) {
  EXPECT_EQ(check_shared_memory({}, 1).verdict, Verdict::fail);
}

}  // namespace shared_memory_check_test
}  // namespace mpitron::doctor

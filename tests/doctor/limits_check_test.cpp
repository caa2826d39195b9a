#include <gtest/gtest.h>
#include <sys/resource.h>

#include "doctor/node_checks.h"

namespace mpitron::doctor {
namespace limits_check_test {

constexpr Index kGiB = Index{1} << 30;

/// The result of that name.
CheckResult of(const std::vector<CheckResult>& results, const std::string& name) {
  for (const CheckResult& result : results) {
    if (result.name == name) {
      return result;
    }
  }
  ADD_FAILURE() << "no result " << name;
  return {};
}

TEST(LimitsCheck, UnlimitedIsFine) {
  for (const CheckResult& result : check_limits({}, true, 24 * kGiB)) {
    EXPECT_EQ(result.verdict, Verdict::ok) << result.name;
    EXPECT_EQ(result.advice, "") << result.name;
  }
}

TEST(LimitsCheck, LockedMemoryMattersWhereDriversPin) {
  Limits limits;
  limits.locked_memory = 65536;
  EXPECT_EQ(of(check_limits(limits, false, kGiB), "locked memory").verdict, Verdict::ok);
  const CheckResult result = of(check_limits(limits, true, kGiB), "locked memory");
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_EQ(result.found.find("64 KiB"), 0U);
  EXPECT_NE(result.advice.find("ulimit -l unlimited"), std::string::npos);
}

TEST(LimitsCheck, FewOpenFilesAreWarnedOf) {
  Limits limits;
  limits.open_files = 1024;
  EXPECT_EQ(of(check_limits(limits, false, kGiB), "open files").verdict, Verdict::warn);
  limits.open_files = 4096;
  EXPECT_EQ(of(check_limits(limits, false, kGiB), "open files").verdict, Verdict::ok);
}

TEST(LimitsCheck, ArenasWantAddresses) {
  Limits limits;
  limits.address_space = 8 * kGiB;
  EXPECT_EQ(of(check_limits(limits, false, 24 * kGiB), "address space").verdict, Verdict::fail);
  EXPECT_EQ(of(check_limits(limits, false, 2 * kGiB), "address space").verdict, Verdict::ok);
}

TEST(LimitsCheck, SaysHowToGetCoreFiles) {
  Limits limits;
  limits.core_bytes = 0;
  const CheckResult result = of(check_limits(limits, false, kGiB), "core files");
  EXPECT_EQ(result.verdict, Verdict::ok);
  EXPECT_NE(result.advice.find("ulimit -c unlimited"), std::string::npos);
}

TEST(LimitsCheck, ReadsTheProcess) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_CORE, &none), 0);
  EXPECT_EQ(read_limits().core_bytes, 0);
  ::setrlimit(RLIMIT_CORE, &before);
}

}  // namespace limits_check_test
}  // namespace mpitron::doctor

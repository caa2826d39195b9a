#include "doctor/slurm_check.h"

#include <gtest/gtest.h>

#include "doctor/working_slurm.h"

namespace mpitron::doctor {
namespace slurm_check_test {

TEST(SlurmCheck, ReadsTheConfiguration) {
  EXPECT_EQ(setting(kConfiguration, "MpiDefault"), "pmix");
  EXPECT_EQ(setting(kConfiguration, "AuthInfo"), "socket=/tmp/x/munge.sock,cred_expire=5");
  EXPECT_EQ(setting(kConfiguration, "Mpi"), "");
  EXPECT_EQ(setting("", "MpiDefault"), "");
}

TEST(SlurmCheck, AWorkingOnePasses) {
  for (const CheckResult& result : check_slurm(working(), {}, kDebian)) {
    EXPECT_EQ(result.verdict, Verdict::ok) << result.name << ": " << result.found;
  }
  EXPECT_EQ(of(working(), "slurm").found, "22.05.8, cluster tiny");
  EXPECT_EQ(of(working(), "slurm pmix").found, "pmix_v4");
}

TEST(SlurmCheck, WithoutSlurmItIsSkipped) {
  const auto results = check_slurm({}, {}, kDebian);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].verdict, Verdict::skipped);
}

TEST(SlurmCheck, MungeMustAnswer) {
  SlurmFacts facts = working();
  facts.munge_answers = false;
  const CheckResult result = of(facts, "munge");
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_NE(result.found.find("/tmp/x/munge.sock"), std::string::npos);
  facts.configuration = "AuthType = auth/slurm\nMpiDefault = pmix\n";
  EXPECT_EQ(of(facts, "munge").verdict, Verdict::skipped);
}

TEST(SlurmCheck, ASilentControllerFails) {
  SlurmFacts facts;
  facts.is_there = true;
  facts.mpi_list = "srun: fatal: Could not establish a configuration source\n";
  const CheckResult result = of(facts, "slurm");
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_NE(result.found.find("configuration source"), std::string::npos);
}

}  // namespace slurm_check_test

}  // namespace mpitron::doctor

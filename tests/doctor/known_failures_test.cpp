#include <gtest/gtest.h>

#include "doctor/node_checks.h"

namespace mpitron::doctor {
namespace known_failures_test {

/// Where nothing goes wrong.
MachineFacts healthy() {
  MachineFacts s;
  s.mpi = {.version = "Open MPI v4.1.4", .knows_pmi = false};
  s.has_munge_library = true;
  s.has_pmix_folder = true;
  return s;
}

/// The single result, which must be a finding.
CheckResult only(const MachineFacts& facts) {
  const auto results = check_known_failures(facts);
  EXPECT_EQ(results.size(), 1U);
  EXPECT_NE(results[0].verdict, Verdict::ok);
  EXPECT_FALSE(results[0].advice.empty());
  return results[0];
}

bool is_fine(const MachineFacts& facts) {
  const auto results = check_known_failures(facts);
  return results.size() == 1 && results[0].verdict == Verdict::ok;
}

TEST(KnownFailures, NoneWhereNothingIsWrong) {
  MachineFacts s = healthy();
  EXPECT_TRUE(is_fine(s));
  s.environment = {{"PMIX_SECURITY_MODE", "munge,native"}, {"PMIX_SERVER_TMPDIR", "/spool"}};
  EXPECT_TRUE(is_fine(s));
}

TEST(KnownFailures, MungeIsMissingInTheContainer) {
  MachineFacts s = healthy();
  s.has_munge_library = false;
  EXPECT_TRUE(is_fine(s));
  s.environment["PMIX_SECURITY_MODE"] = "munge,native";
  EXPECT_NE(only(s).advice.find("export PMIX_MCA_psec=native"), std::string::npos);
  s.environment["PMIX_MCA_psec"] = "native";
  EXPECT_TRUE(is_fine(s));
  s.environment["PMIX_MCA_psec"] = "munge";
  EXPECT_EQ(only(s).advice, "export PMIX_MCA_psec=native");
}

TEST(KnownFailures, TheSharedStoreIsNotMounted) {
  MachineFacts s = healthy();
  s.has_pmix_folder = false;
  EXPECT_TRUE(is_fine(s));
  s.environment["PMIX_SERVER_TMPDIR"] = "/var/spool/pmix.1.0";
  EXPECT_NE(only(s).advice.find("export PMIX_MCA_gds=hash"), std::string::npos);
  s.environment["PMIX_MCA_gds"] = "hash";
  EXPECT_TRUE(is_fine(s));
}

TEST(KnownFailures, UcxWithoutInfiniBand) {
  MachineFacts s = healthy();
  s.environment["OMPI_MCA_pml"] = "ucx";
  EXPECT_EQ(only(s).advice, "unset OMPI_MCA_pml");
  s.has_infiniband = true;
  EXPECT_TRUE(is_fine(s));
  s.has_infiniband = false;
  s.environment["OMPI_MCA_pml"] = "^ucx";
  EXPECT_TRUE(is_fine(s));
}

TEST(KnownFailures, MemoryOfNeighboursIsForbidden) {
  MachineFacts s = healthy();
  s.ptrace_scope = 1;
  EXPECT_NE(only(s).advice.find("btl_vader_single_copy_mechanism=none"), std::string::npos);
  s.environment["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none";
  EXPECT_TRUE(is_fine(s));
}

TEST(KnownFailures, MpirunAsRoot) {
  MachineFacts s = healthy();
  s.is_root = true;
  EXPECT_NE(only(s).advice.find("OMPI_ALLOW_RUN_AS_ROOT=1"), std::string::npos);
  s.environment["OMPI_COMM_WORLD_SIZE"] = "2";  // it runs
  EXPECT_TRUE(is_fine(s));
}

TEST(KnownFailures, SocketsNeedShortNames) {
  MachineFacts s = healthy();
  s.environment["TMPDIR"] = "/scratch/users/" + std::string(60, 'x');
  EXPECT_EQ(only(s).advice, "export TMPDIR=/tmp");
}

TEST(KnownFailures, SrunForgetsCpusPerTask) {
  MachineFacts s = healthy();
  s.environment = {{"SLURM_JOB_ID", "1"}, {"SLURM_CPUS_PER_TASK", "14"}};
  EXPECT_EQ(only(s).advice, "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK");
  s.environment["SRUN_CPUS_PER_TASK"] = "14";
  EXPECT_TRUE(is_fine(s));
}

TEST(KnownFailures, SeveralAreAllTold) {
  MachineFacts s = healthy();
  s.is_root = true;
  s.ptrace_scope = 2;
  EXPECT_EQ(check_known_failures(s).size(), 2U);
}

TEST(KnownFailures, ReadsThisMachine) {
  const MachineFacts s =
      read_machine_facts({{"PMIX_SERVER_TMPDIR", "/tmp"}}, {.version = "MPICH", .knows_pmi = true});
  EXPECT_TRUE(s.has_pmix_folder);
  EXPECT_EQ(s.mpi.version, "MPICH");
  EXPECT_FALSE(read_machine_facts({}, {}).has_pmix_folder);
}

}  // namespace known_failures_test
}  // namespace mpitron::doctor

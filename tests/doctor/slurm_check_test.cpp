#include "doctor/slurm_check.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace mpitron::doctor {
namespace slurm_check_test {

const launch::MpiLibrary kDebian{.version = "Open MPI v4.1.4", .knows_pmi = false};
constexpr const char* kList =
    "MPI plugin types are...\n\tpmix\n\tnone\n\tpmi2\n"
    "specific pmix plugin versions available: pmix_v4\n";
constexpr const char* kConfiguration =
    "Configuration data as of 2026-11-22T15:00:00\n"
    "AuthInfo                = socket=/tmp/x/munge.sock,cred_expire=5\n"
    "AuthType                = auth/munge\n"
    "ClusterName             = tiny\n"
    "MpiDefault              = pmix\n"
    "MpiParams               = (null)\n"
    "SLURM_VERSION           = 22.05.8\n";

SlurmFacts working() {
  SlurmFacts facts;
  facts.is_there = true;
  facts.mpi_list = kList;
  facts.configuration = kConfiguration;
  facts.munge_answers = true;
  return facts;
}

CheckResult of(const SlurmFacts& facts, const std::string& name,
               const launch::Environment& environment = {}) {
  for (const CheckResult& result : check_slurm(facts, environment, kDebian)) {
    if (result.name == name) {
      return result;
    }
  }
  ADD_FAILURE() << "no result " << name;
  return {};
}

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

TEST(SlurmCheck, TheUnversionedLibraryIsNamed) {
  SlurmFacts facts = working();
  facts.absent_pmix = {"/usr/lib/pmix2/lib/libpmix.so"};
  const CheckResult result = of(facts, "slurm pmix");
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_NE(result.found.find("/usr/lib/pmix2/lib/libpmix.so"), std::string::npos);
  EXPECT_NE(result.advice.find("libpmix-dev"), std::string::npos);
}

TEST(SlurmCheck, APluginMustBeThere) {
  SlurmFacts facts = working();
  facts.mpi_list = "MPI plugin types are...\n\tnone\n\tpmi2\n";
  EXPECT_EQ(of(facts, "slurm pmix").verdict, Verdict::fail);
}

TEST(SlurmCheck, TheTypeMustBeOneThatMpiKnows) {
  SlurmFacts facts = working();
  EXPECT_EQ(of(facts, "slurm mpi type", {{"SLURM_MPI_TYPE", "pmi2"}}).verdict, Verdict::warn);
  EXPECT_EQ(of(facts, "slurm mpi type", {{"SLURM_MPI_TYPE", "pmix_v4"}}).verdict, Verdict::ok);
  facts.configuration = "MpiDefault = none\nAuthType = auth/munge\n";
  const CheckResult result = of(facts, "slurm mpi type");
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_NE(result.advice.find("SLURM_MPI_TYPE=pmix"), std::string::npos);
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

TEST(SlurmCheck, PluginsTellWhatTheyOpen) {
  const test::TemporaryFolder folder;
  const std::filesystem::path library = folder.path() / "pmix/lib";
  std::filesystem::create_directories(library);
  const auto write = [&](const std::string& name, const std::string& path) {
    const std::string text =
        std::string("code\0", 5) + path + std::string("\0libpmix.so\0more", 16);
    std::ofstream(folder.path() / name) << text;
  };
  EXPECT_TRUE(absent_pmix_libraries(folder.path()).empty());
  write("mpi_pmix_v4.so", library.string());
  write("mpi_pmi2.so", "/nowhere/lib");
  const auto absent = absent_pmix_libraries(folder.path());
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0], library / "libpmix.so");
  std::ofstream(library / "libpmix.so") << "";
  EXPECT_TRUE(absent_pmix_libraries(folder.path()).empty());
  EXPECT_TRUE(absent_pmix_libraries("/no/such/folder").empty());
}

}  // namespace slurm_check_test
}  // namespace mpitron::doctor

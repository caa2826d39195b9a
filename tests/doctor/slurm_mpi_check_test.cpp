#include <fstream>

#include <gtest/gtest.h>

#include "doctor/slurm_check.h"
#include "doctor/working_slurm.h"
#include "support/temporary_folder.h"

namespace mpitron::doctor {
namespace slurm_mpi_check_test {

TEST(SlurmMpiCheck, TheUnversionedLibraryIsNamed) {
  SlurmFacts facts = working();
  facts.absent_pmix = {"/usr/lib/pmix2/lib/libpmix.so"};
  const CheckResult result = of(facts, "slurm pmix");
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_NE(result.found.find("/usr/lib/pmix2/lib/libpmix.so"), std::string::npos);
  EXPECT_NE(result.advice.find("libpmix-dev"), std::string::npos);
}

TEST(SlurmMpiCheck, APluginMustBeThere) {
  SlurmFacts facts = working();
  facts.mpi_list = "MPI plugin types are...\n\tnone\n\tpmi2\n";
  EXPECT_EQ(of(facts, "slurm pmix").verdict, Verdict::fail);
}

TEST(SlurmMpiCheck, TheTypeMustBeOneThatMpiKnows) {
  SlurmFacts facts = working();
  EXPECT_EQ(of(facts, "slurm mpi type", {{"SLURM_MPI_TYPE", "pmi2"}}).verdict, Verdict::warn);
  EXPECT_EQ(of(facts, "slurm mpi type", {{"SLURM_MPI_TYPE", "pmix_v4"}}).verdict, Verdict::ok);
  facts.configuration = "MpiDefault = none\nAuthType = auth/munge\n";
  const CheckResult result = of(facts, "slurm mpi type");
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_NE(result.advice.find("SLURM_MPI_TYPE=pmix"), std::string::npos);
}

TEST(SlurmMpiCheck, PluginsTellWhatTheyOpen) {
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

}  // namespace slurm_mpi_check_test

}  // namespace mpitron::doctor

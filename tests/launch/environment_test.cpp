#include "launch/environment.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace mpitron::launch {

namespace environment_test {

TEST(Environment, HoldsThisProcessVariables) {
  ::setenv("MPITRON_TEST_VARIABLE", "a=b", 1);
  EXPECT_EQ(text_of(process_environment(), "MPITRON_TEST_VARIABLE"), "a=b");
  ::unsetenv("MPITRON_TEST_VARIABLE");
  EXPECT_EQ(text_of(process_environment(), "MPITRON_TEST_VARIABLE"), std::nullopt);
}

TEST(Environment, ReadsLeadingNumbers) {
  const Environment made = {{"PLAIN", "8"}, {"NODES", "4(x2)"}, {"WORD", "many"}, {"EMPTY", ""}};
  EXPECT_EQ(number_of(made, "PLAIN"), 8);
  EXPECT_EQ(number_of(made, "NODES"), 4);
  EXPECT_EQ(number_of(made, "WORD"), std::nullopt);
  EXPECT_EQ(number_of(made, "EMPTY"), std::nullopt);
  EXPECT_EQ(number_of(made, "ABSENT"), std::nullopt);
}

class Library : public ::testing::Test {
 protected:
  void touch(const std::string& name) const {
    const std::filesystem::path path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "";
  }
  MpiLibrary open_mpi() const {
    return describe_mpi("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4",
                        folder_.path() / "libmpi.so");
  }
  test::TemporaryFolder folder_;
};

TEST_F(Library, TellsTheFirstPartOfTheVersion) {
  EXPECT_EQ(open_mpi().version, "Open MPI v4.1.4");
  EXPECT_EQ(describe_mpi("MPICH Version:\t4.0.2\nMPICH Release date", "").version,
            "MPICH Version:\t4.0.2");
}

TEST_F(Library, OpenMpiKnowsPmiByItsComponent) {
  touch("libmpi.so");
  touch("openmpi/lib/openmpi3/mca_pmix_ext3x.so");
  EXPECT_FALSE(open_mpi().knows_pmi);
  touch("openmpi/lib/openmpi3/mca_pmix_s2.so");
  EXPECT_TRUE(open_mpi().knows_pmi);
}

TEST_F(Library, WithoutComponentsItIsBelieved) {
  touch("libmpi.so");
  EXPECT_TRUE(open_mpi().knows_pmi);
  EXPECT_TRUE(describe_mpi("MPICH Version:\t4.0.2", "/nowhere/libmpich.so").knows_pmi);
}

TEST_F(Library, LinksAreFollowed) {
  touch("real/libmpi.so");
  touch("real/openmpi/mca_pmix_ext3x.so");
  std::filesystem::create_symlink(folder_.path() / "real/libmpi.so", folder_.path() / "libmpi.so");
  EXPECT_FALSE(open_mpi().knows_pmi);
}

}  // namespace environment_test

}  // namespace mpitron::launch

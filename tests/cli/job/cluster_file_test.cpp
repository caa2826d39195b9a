#include <fstream>

#include <gtest/gtest.h>

#include "cli/job/batch_script.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::cli {
namespace cluster_file_test {

/// A repository with one cluster.
class ClusterFile : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(home_.path() / "jobs/clusters"); }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = home_.path() / ("jobs/clusters/" + name + ".sh");
    std::ofstream(file) << text;
    return file;
  }
  template <class Call>
  static std::string error_of(Call&& call, ExitCode code) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
  test::TemporaryFolder home_;
};

TEST_F(ClusterFile, IsReadByAShell) {
  const Cluster cluster = read_cluster(
      write("big",
            "launcher=srun gpus_per_node=8\ncores_per_node=$((2 * 56))\nmax_nodes=64\n"
            "time_limit=2-00:00:00\nsbatch_flags=(--partition=batch --account=\"my team\")\n"
            "echo hello\n"));
  EXPECT_EQ(cluster.gpus_per_node, 8);
  EXPECT_EQ(cluster.cores_per_node, 112);
  EXPECT_EQ(cluster.max_nodes, 64);
  EXPECT_EQ(cluster.time_limit, "2-00:00:00");
  EXPECT_EQ(cluster.sbatch_flags,
            std::vector<std::string>({"--partition=batch", "--account=my team"}));
}

TEST_F(ClusterFile, LeavesWhatItDoesNotSay) {
  const Cluster cluster = read_cluster(write("small", "gpus_per_node=1\n"));
  EXPECT_EQ(cluster.launcher, "srun");
  EXPECT_EQ(cluster.cores_per_node, 0);
  EXPECT_EQ(cluster.time_limit, "24:00:00");
  EXPECT_TRUE(cluster.sbatch_flags.empty());
}

TEST_F(ClusterFile, IsFoundByNameOrPath) {
  const std::filesystem::path file = write("big", "gpus_per_node=8\n");
  EXPECT_EQ(find_cluster("big", home_.path()), file);
  EXPECT_EQ(find_cluster(file.string(), "/elsewhere"), file);
  write("small", "");
  const std::string text = error_of([&] { find_cluster("huge", home_.path()); }, ExitCode::usage);
  EXPECT_NE(text.find("has: big, small"), std::string::npos) << text;
  const std::string nowhere = error_of([&] { find_cluster("big", "/elsewhere"); }, ExitCode::usage);
  EXPECT_NE(nowhere.find("--home /elsewhere: holds no jobs/clusters"), std::string::npos);
}

TEST_F(ClusterFile, NamesWhatIsWrongInIt) {
  const std::filesystem::path broken = write("broken", "if true; then\n");
  error_of([&] { read_cluster(broken); }, ExitCode::environment);
  const std::filesystem::path words = write("words", "gpus_per_node=eight\n");
  EXPECT_NE(error_of([&] { read_cluster(words); }, ExitCode::usage).find("gpus_per_node=eight"),
            std::string::npos);
}

TEST(Clusters, OfTheRepositoryCanBeRead) {
  int count = 0;
  const std::filesystem::path folder = std::filesystem::path(MPITRON_SOURCE_DIR) / "jobs/clusters";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    EXPECT_GT(read_cluster(entry.path()).gpus_per_node, 0) << entry.path();
    ++count;
  }
  EXPECT_GT(count, 0);
}

}  // namespace cluster_file_test

}  // namespace mpitron::cli

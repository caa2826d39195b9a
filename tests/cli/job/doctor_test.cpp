#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/program.h"

namespace mpitron::cli {
namespace doctor_test {

using namespace mpitron::test;
using nlohmann::json;

/// What doctor says of this machine; nothing that it measures is looked at.
json examine(const std::string& folder, const std::vector<std::string>& more,
             const std::map<std::string, std::string>& environment, int expected_code) {
  std::vector<std::string> words = {"doctor", "--json", "--megabytes", "2"};
  words.insert(words.end(), more.begin(), more.end());
  const Finished finished = run_program(folder, words, {.variables = environment});
  EXPECT_EQ(finished.code, expected_code) << finished.out << finished.err;
  return json::parse(finished.out);
}

json of(const json& report, const std::string& name) {
  for (const json& check : report.at("checks")) {
    if (check.at("name") == name) {
      return check;
    }
  }
  return {{"verdict", "absent"}, {"found", ""}, {"advice", ""}};
}

TEST(Doctor, ExaminesThisMachine) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "runs");
  const Finished finished = run_program(
      folder.path(),
      {"doctor", "--json", "--megabytes", "2", "--run-dir", "runs", "--nodes-bad", "bad.txt"});
  const json report = json::parse(finished.out);
  EXPECT_EQ(finished.code, report.at("ok").get<bool>() ? 0 : 3);
  EXPECT_EQ(of(report, "libraries").at("verdict"), "ok");
  EXPECT_EQ(of(report, "ranks").at("verdict"), "ok");
  EXPECT_EQ(of(report, "clocks").at("verdict"), "skipped");
  EXPECT_EQ(of(report, "node speed").at("verdict"), "ok");
  EXPECT_NE(of(report, "run directory").at("verdict"), "fail");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "runs"));
  EXPECT_EQ(read_file(folder / "bad.txt"), "");  // one node alone is never slow
}

TEST(Doctor, AFailureIsExitCodeThree) {
  const TemporaryFolder folder;
  const json report =
      examine(folder.path(), {"--no-speed"}, {{"NCCL_SOCKET_IFNAME", "no-such-interface"}}, 3);
  EXPECT_EQ(report.at("ok"), false);
  EXPECT_EQ(of(report, "NCCL_SOCKET_IFNAME").at("verdict"), "fail");
  EXPECT_EQ(of(report, "node speed").at("verdict"), "absent");
}

TEST(Doctor, ExaminesWhatMpiCannotConnect) {
  const TemporaryFolder folder;
  const std::map<std::string, std::string> copies = {{"SLURM_STEP_NUM_TASKS", "4"},
                                                     {"SLURM_PROCID", "0"}};
  const json report = examine(folder.path(), {"--no-speed"}, copies, 3);
  EXPECT_EQ(of(report, "ranks").at("verdict"), "fail");
  EXPECT_TRUE(contains(of(report, "ranks").at("found").get<std::string>(), "srun --mpi=pmix"));
  const Finished alone =
      run_program(folder.path(), {"doctor", "--without-mpi", "--no-speed"}, {.variables = copies});
  EXPECT_TRUE(contains(alone.out, "MPI was not started")) << alone.out;
}

TEST(Doctor, NamesWrongFlags) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_program(folder.path(), {"doctor", "--slow-below", "1.5"}).code, 2);
  EXPECT_EQ(run_program(folder.path(), {"doctor", "--megabytes", "1"}).code, 2);
  EXPECT_EQ(run_program(folder.path(), {"doctor", "--fix"}).code, 2);
}

}  // namespace doctor_test
}  // namespace mpitron::cli

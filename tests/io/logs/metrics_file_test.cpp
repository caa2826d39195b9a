#include "io/logs/metrics_file.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/full_disk.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::io {
namespace metrics_file_test {

/// The reader's rule of the header: step -> loss after going back at every resume; torn lines are
/// counted.
std::map<int, double> losses(const std::filesystem::path& path, int& torn) {
  std::map<int, double> by_step;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
    if (row.is_discarded()) {
      ++torn;
    } else if (row.contains("event")) {
      by_step.erase(by_step.upper_bound(row.at("step")), by_step.end());
    } else {
      by_step[row.at("step")] = row.at("lm loss");
    }
  }
  return by_step;
}

void add_loss(MetricsFile& file, int step, double loss) {
  file.add(step, std::array{Metric{"lm loss", loss}, Metric{"grad-norm", 1.5}});
}

TEST(MetricsFile, SurvivesACrashAndAResume) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "metrics.jsonl";
  {
    MetricsFile file(path);
    for (int step = 1; step <= 5; ++step) {
      add_loss(file, step, 10.0 - step);
    }
  }
  std::ofstream(path, std::ios::app) << R"({"step":6,"lm lo)";  // killed here
  {
    MetricsFile file(path);
    file.resume(3);
    add_loss(file, 4, 6.25);
  }
  int torn = 0;
  const std::map<int, double> expected{{1, 9.0}, {2, 8.0}, {3, 7.0}, {4, 6.25}};
  EXPECT_EQ(losses(path, torn), expected);
  EXPECT_EQ(torn, 1);
}

TEST(MetricsFile, ExactLines) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "metrics.jsonl";
  MetricsFile file(path);
  file.add(7, std::array{Metric{"lm loss", 2.5},
                         Metric{"norm", std::numeric_limits<double>::quiet_NaN()}});
  file.add(8, {});
  std::ifstream written(path);  // flushed without closing
  const std::string text{std::istreambuf_iterator<char>(written), {}};
  EXPECT_EQ(text, "{\"step\":7,\"lm loss\":2.5,\"norm\":null}\n{\"step\":8}\n");
}

TEST(MetricsFile, AFullDiskLeavesLinesOutAndNothingElse) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "metrics.jsonl";
  MetricsFile file(path);
  std::map<int, double> expected;
  for (int step = 1; step <= 100; ++step) {  // more than what is said below
    add_loss(file, step, expected[step] = 200.0 - step);
  }
  const test::FullDisk full(std::filesystem::file_size(path) + 5);
  ::testing::internal::CaptureStderr();
  add_loss(file, 101, 2.0);
  add_loss(file, 102, 1.5);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_NE(said.find("metrics.jsonl: cannot write"), std::string::npos) << said;
  full.is_emptied();
  add_loss(file, 103, expected[103] = 1.0);
  int torn = 0;
  EXPECT_EQ(losses(path, torn), expected);
  EXPECT_EQ(torn, 1);
}

TEST(MetricsFile, IsOneRunsAtATime) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "metrics.jsonl";
  {
    const MetricsFile one(path);
    try {
      const MetricsFile two(path);
      ADD_FAILURE() << "two runs write into one file";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("another run writes there"), std::string::npos);
    }
  }
  const MetricsFile next(path);
}

TEST(MetricsFile, NamesTheFileItCannotOpen) {
  const test::TemporaryFolder folder;
  EXPECT_THROW(MetricsFile((folder / "absent/metrics.jsonl")), Error);
}

}  // namespace metrics_file_test
}  // namespace mpitron::io

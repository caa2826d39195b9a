#include "train/run/progress_log.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace progress_log_test {

using namespace std::chrono_literals;

const auto kNoon = ProgressLog::Clock::from_time_t(1'750'000'000);

std::vector<std::string> messages(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    result.push_back(line.substr(line.find("# GPUs")));
  }
  return result;
}

TEST(ProgressLog, WritesTheReferencesLines) {
  const test::TemporaryFolder folder;
  ProgressLog log(folder / "new", 4, kNoon);
  log.saved({.iteration = 10, .job_flops = 8e13, .flops = 8e13, .tokens = 2.5e9}, kNoon + 10s);
  log.saved({.iteration = 20, .asynchronous = true, .job_flops = 2e14, .flops = 2e14}, kNoon + 20s);
  EXPECT_EQ(messages(read_file(folder / "new/progress.txt")),
            (std::vector<std::string>{
                "# GPUs: 4\tStarting job",
                "# GPUs: 4\tSaved checkpoint\tIteration: 10\tJob throughput: 2.0 "
                "TFLOP/s/GPU\tCumulative throughput: 2.0 TFLOP/s/GPU\tFloating-point operations: "
                "8.00e+13\tTokens (in billions): 2.50",
                "# GPUs: 4\tSaving async checkpoint\tIteration: 20\tJob throughput: 2.5 "
                "TFLOP/s/GPU\tCumulative throughput: 2.5 TFLOP/s/GPU\tFloating-point operations: "
                "2.00e+14\tTokens (in billions): 0.00"}));
}

/// The second job of the same world size counts from the first; another world size starts anew.
TEST(ProgressLog, ThroughputGoesOnThroughJobs) {
  const test::TemporaryFolder folder;
  const auto last_line = [&] { return messages(read_file(folder / "progress.txt")).back(); };
  const auto has = [](const std::string& line, const std::string& part) {
    return line.find(part) != std::string::npos;
  };
  {
    ProgressLog first(folder.path(), 1, kNoon);
    first.saved({.iteration = 1, .job_flops = 1e14, .flops = 1e14}, kNoon + 50s);
  }
  {
    ProgressLog second(folder.path(), 1, kNoon + 90s);
    second.saved({.iteration = 2, .job_flops = 1e14, .flops = 2e14}, kNoon + 100s);
    EXPECT_TRUE(has(last_line(), "Job throughput: 10.0")) << last_line();
    EXPECT_TRUE(has(last_line(), "Cumulative throughput: 2.0")) << last_line();
  }
  ProgressLog wider(folder.path(), 2, kNoon + 200s);
  wider.saved({.iteration = 3, .job_flops = 4e13, .flops = 2.4e14}, kNoon + 210s);
  EXPECT_TRUE(has(last_line(), "Cumulative throughput: 2.0")) << last_line();
}

}  // namespace progress_log_test
}  // namespace mpitron::train

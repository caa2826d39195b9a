#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command_test.h"
#include "report/pages.h"

namespace mpitron::cli {
namespace report_test {

using namespace mpitron::test;
using Json = nlohmann::json;

class ReportCommand : public CommandTest {};

TEST_F(ReportCommand, LaysTrainedRunsOverEachOther) {
  for (const char* lr : {"1e-3", "1e-2"}) {
    const Finished end = run(kTinyMock + Words{"--lr", lr, "--tensorboard-dir",
                                               "runs/" + std::string(lr), "--eval-interval", "2"});
    ASSERT_EQ(end.code, 0) << end.err;
  }
  const Finished json = run({"report", "runs/1e-3", "runs/1e-2", "--json"});
  ASSERT_EQ(json.code, 0) << json.err;
  const Json runs = Json::parse(json.out).at("runs");
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].at("name"), "1e-3");
  EXPECT_EQ(runs[0].at("state"), "finished");
  EXPECT_EQ(runs[1].at("given").at("lr"), "0.01");
  EXPECT_EQ(runs[1].at("options").at("seq_length"), "128");
  const Json& columns = runs[0].at("columns");
  EXPECT_EQ(columns.at("iteration"), Json({1, 2, 3, 4}));
  EXPECT_EQ(columns.at("tokens"), Json({512, 1024, 1536, 2048}));
  for (const char* name :
       {"lm loss", "grad-norm", "learning-rate", "tokens-per-second", "hours", "memory-mib-max"}) {
    EXPECT_TRUE(columns.at(name)[3].is_number()) << name;
  }
  EXPECT_TRUE(columns.at("lm loss validation")[1].is_number());

  write_bytes(folder_ / "chart.js", "Chart");
  const Words page = {"report", "runs/1e-3", "runs/1e-2", "--title", "two rates"};
  const Finished written = run(page + Words{"--chart-library", "chart.js", "--output", "a.html"});
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_TRUE(contains(written.out, "a.html: 2 runs"));
  EXPECT_TRUE(contains(read_file(folder_ / "a.html"), "<title>two rates</title>"));
  expect_refused(page + Words{"--chart-library", "missing.js"}, 3, "libjs-chart.js");
  if (std::filesystem::exists(report::kChartLibrary)) {
    EXPECT_EQ(run(page).code, 0);
    EXPECT_TRUE(contains(read_file(folder_ / "report.html"), "Chart.js"));
  }
}

TEST_F(ReportCommand, ReplacesNothingThatItReads) {
  const std::string line = "{\"step\":1,\"lm loss\":2}\n";
  std::filesystem::create_directory(folder_ / "a");
  write_bytes(folder_ / "a/metrics.jsonl", line);
  write_bytes(folder_ / "a/run_state.json", R"({"state": "finished"})");
  write_bytes(folder_ / "chart.js", "Chart");
  for (const char* file : {"a/metrics.jsonl", "a/run_state.json", "chart.js"}) {
    const std::string before = read_file(folder_ / file);
    expect_refused({"report", "a", "--chart-library", "chart.js", "--output", file}, 2,
                   std::string("--output ") + file + ": is read as");
    EXPECT_EQ(read_file(folder_ / file), before);
  }
}

TEST_F(ReportCommand, RefusesWhatIsNotThere) {
  expect_refused({"report"}, 2, "no run given");
  expect_refused({"report", "missing"}, 4, "--tensorboard-dir");
  expect_refused({"report", ".", "--points", "-1"}, 2, "--points");
}

}  // namespace report_test
}  // namespace mpitron::cli

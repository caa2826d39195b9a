#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/run_progress.h"

namespace mpitron::report {
namespace run_json_test {

nlohmann::json first_run(const RunFolder& run, std::size_t points) {
  return nlohmann::json::parse(runs_json({run}, points, run.written)).at("runs").at(0);
}

/// `rows` iterations of half an hour, 2 samples of 4 tokens each; a validation at iteration 7.
RunFolder sample_run(int rows) {
  std::string lines;
  for (int i = 1; i <= rows; ++i) {
    lines += fmt::format(R"({{"step":{},"lm loss":{},"iteration-time":1800,"consumed-samples":{}}})"
                         "\n",
                         i, 100 - i, 2 * i);
    lines += i == 7 ? "{\"step\":7,\"lm loss validation\":50}\n" : "";
  }
  RunFolder run;
  run.name = "a \"name\"";
  run.description = {.seq_length = 4, .given = {{"lr", "0.5"}}};
  run.metrics = MetricsLog(lines);
  return run;
}

TEST(RunJson, ColumnsGoOverIterationsTokensAndHours) {
  const auto run = first_run(sample_run(8), 0);
  EXPECT_EQ(run.at("name"), "a \"name\"");
  EXPECT_EQ(run.at("given").at("lr"), "0.5");
  const auto& columns = run.at("columns");
  EXPECT_EQ(columns.at("iteration").size(), 8U);
  EXPECT_EQ(columns.at("tokens").at(2), 24);
  EXPECT_EQ(columns.at("hours").at(3), 2);
  EXPECT_EQ(columns.at("lm loss").at(1), 98);
  EXPECT_EQ(columns.at("lm loss validation").at(6), 50);
  EXPECT_TRUE(columns.at("lm loss validation").at(5).is_null());
  EXPECT_EQ(run.at("facts").at("loss"), 92);
  EXPECT_TRUE(run.at("facts").at("memory_mib").is_null());
}

TEST(RunJson, ThinsButKeepsTheLastAndTheRare) {
  const auto columns = first_run(sample_run(1000), 100).at("columns");
  const auto& iterations = columns.at("iteration");
  EXPECT_EQ(iterations.size(), 102U);  // every tenth, number 7 and the last
  EXPECT_EQ(iterations.at(1), 7);
  EXPECT_EQ(iterations.back(), 1000);
  EXPECT_EQ(columns.at("lm loss validation").at(1), 50);
  EXPECT_EQ(columns.at("hours").back(), 500) << "time counts what is left out";
}

TEST(RunJson, ARunWithoutNumbersHasEmptyColumns) {
  const auto run = first_run(RunFolder{}, 10);
  EXPECT_TRUE(run.at("columns").at("iteration").empty());
  EXPECT_TRUE(run.at("facts").at("loss").is_null());
}

}  // namespace run_json_test

}  // namespace mpitron::report

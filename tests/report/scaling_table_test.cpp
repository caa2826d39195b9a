#include "report/scaling_table.h"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mpitron::report {
namespace scaling_table_test {

/// Iterations of these seconds, `samples` samples of 10 tokens and 1 TFLOP each.
RunFolder run_of(const std::vector<double>& seconds, int samples) {
  std::string lines;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    lines += fmt::format("{{\"step\":{},\"iteration-time\":{},\"batch-size\":{}}}\n", i + 1,
                         seconds[i], samples);
  }
  RunFolder run;
  run.description = {.seq_length = 10, .flops_per_sample = 1e12};
  run.metrics = MetricsLog(lines);
  return run;
}

Study study_of_ranks(const std::vector<std::int64_t>& ranks) {
  Study study{.name = "s", .warm_up = 2, .peak_tflops = 8};
  for (const auto count : ranks) {
    study.points.push_back({.name = fmt::format("{} ranks", count), .ranks = count});
  }
  return study;
}

TEST(ScalingRows, CompareFlopsPerRankWithTheFirstPoint) {
  const auto rows =
      scaling_rows(study_of_ranks({1, 2, 4}),
                   {run_of({9, 9, 1, 1, 2}, 4), run_of({9, 9, 2, 2, 2}, 8), run_of({9, 9, 5}, 16)},
                   {{}, {.bubble = 0.25}, {.core_share = 0.5}});
  EXPECT_EQ(rows[0].seconds_per_iteration, 1) << "the median, without the warm-up";
  EXPECT_EQ(rows[0].tokens_per_second, 40);
  EXPECT_EQ(rows[0].tflops_per_rank, 4);
  EXPECT_EQ(rows[0].utilisation, 0.5);
  EXPECT_EQ(rows[0].efficiency, 1);
  EXPECT_EQ(rows[0].predicted, 40);
  EXPECT_EQ(rows[1].tokens_per_second, 40);
  EXPECT_EQ(rows[1].efficiency, 0.5);
  EXPECT_DOUBLE_EQ(rows[1].predicted, 64) << "2 x 40, a fifth lost to the pipeline";
  EXPECT_DOUBLE_EQ(rows[2].efficiency, 0.2);
  EXPECT_DOUBLE_EQ(rows[2].predicted, 80) << "4 x 40 on half as many cores";
}

TEST(ScalingRows, WhatWasNotMeasuredIsMissing) {
  const auto rows =
      scaling_rows(study_of_ranks({1, 2, 4}), {std::nullopt, run_of({9, 9, 1}, 4), run_of({9}, 4)},
                   {{}, {}, {}});
  EXPECT_TRUE(std::isnan(rows[0].tokens_per_second) && std::isnan(rows[0].efficiency));
  EXPECT_EQ(rows[1].efficiency, 1) << "the first that was measured";
  EXPECT_TRUE(std::isnan(rows[2].tokens_per_second)) << "nothing behind the warm-up";
  EXPECT_NE(scaling_text(rows).find("4 ranks       4            -"), std::string::npos)
      << scaling_text(rows);
  EXPECT_NE(scaling_csv(rows).find("\n4 ranks,4,,,,,,,,,\n"), std::string::npos)
      << scaling_csv(rows);
}

TEST(ScalingRows, AModelIsHeldAgainstTheRuns) {
  const auto rows = scaling_rows(
      study_of_ranks({1, 2}), {run_of({9, 9, 2}, 4), std::nullopt},
      {{.model_seconds = 2.5, .model_tokens_per_second = 16, .model_parts = "products 80.0 %"},
       {.model_seconds = 1, .model_tokens_per_second = 40}});
  EXPECT_EQ(rows[0].model, 16);
  EXPECT_EQ(rows[0].model_error, 0.25);
  EXPECT_EQ(rows[1].model, 40) << "also of what has not run";
  EXPECT_TRUE(std::isnan(rows[1].model_error));
  EXPECT_NE(scaling_text(rows).find("1 ranks: model: products 80.0 %\n"), std::string::npos);
}

TEST(ScalingCsv, QuotesNames) {
  const std::string csv = scaling_csv({{.name = "a, \"b\"", .ranks = 2, .predicted = 0.1}});
  EXPECT_NE(csv.find("\n\"a, \"\"b\"\"\",2,,,,,,0.1,,,\n"), std::string::npos) << csv;
}

}  // namespace scaling_table_test
}  // namespace mpitron::report

#include "report/metrics_log.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

namespace mpitron::report {
namespace metrics_log_test {

/// The finite values of a column by step.
std::map<int, double> values(const MetricsLog& log, const std::string& name) {
  std::map<int, double> found;
  const auto column = log.column(name);
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (std::isfinite(column[i])) {
      found[static_cast<int>(log.steps()[i])] = column[i];
    }
  }
  return found;
}

TEST(MetricsLog, LinesOfOneStepAreOneRow) {
  const MetricsLog log(R"({"step":1,"lm loss":4}
{"step":1,"lm loss validation":3.5}
{"step":2,"lm loss":3}
)");
  EXPECT_EQ(log.steps(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(values(log, "lm loss"), (std::map<int, double>{{1, 4}, {2, 3}}));
  EXPECT_EQ(values(log, "lm loss validation"), (std::map<int, double>{{1, 3.5}}));
  EXPECT_EQ(log.column("lm loss validation").size(), 2U);
  EXPECT_EQ(log.last("lm loss validation"), 3.5);
  EXPECT_TRUE(log.column("other").empty());
  EXPECT_TRUE(std::isnan(log.last("other")));
}

TEST(MetricsLog, AResumedRunGoesBack) {
  const MetricsLog log(R"({"step":1,"a":1}
{"step":2,"a":2}
{"step":3,"a":3,"b":7}
{"event":"resume","step":1}
{"step":2,"a":20}
)");
  EXPECT_EQ(values(log, "a"), (std::map<int, double>{{1, 1}, {2, 20}}));
  EXPECT_TRUE(values(log, "b").empty());
}

TEST(MetricsLog, ARunThatBeginsAnewForgetsTheFormer) {
  const MetricsLog log(R"({"step":1,"a":1}
{"step":2,"a":2}
{"step":3,"a":3}
{"step":1,"a":10}
{"step":2,"a":20}
)");
  EXPECT_EQ(values(log, "a"), (std::map<int, double>{{1, 10}, {2, 20}}));
}

TEST(MetricsLog, StepsThatNoRunReachesAreLeftOut) {
  const MetricsLog log(R"({"step":-9223372036854775808,"a":1}
{"step":1,"a":2}
{"event":"resume","step":9223372036854775807}
{"step":18446744073709551615,"a":3}
{"step":1000000000000,"a":4}
)");
  EXPECT_EQ(log.steps(), (std::vector<std::int64_t>{1, 1'000'000'000'000}));
}

TEST(MetricsLog, TornLinesAreLeftOut) {
  const MetricsLog log(R"({"step":1,"a":1}
{"step":2,"a
[3]
{"event":"resume"}
"x"
{"step":2,"a":5,"note":"text"}
{"step":3,"a":)");
  EXPECT_EQ(values(log, "a"), (std::map<int, double>{{1, 1}, {2, 5}}));
  EXPECT_TRUE(log.column("note").empty());
}

TEST(MetricsLog, WhatIsNotFiniteIsMissing) {
  const MetricsLog log("{\"step\":1,\"a\":null}\n{\"step\":2,\"a\":2}\n{\"step\":3,\"a\":null}\n");
  EXPECT_EQ(values(log, "a"), (std::map<int, double>{{2, 2}}));
  EXPECT_EQ(log.last("a"), 2);
  EXPECT_TRUE(MetricsLog("").steps().empty());
}

}  // namespace metrics_log_test
}  // namespace mpitron::report

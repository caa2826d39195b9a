#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/sample_status.h"
#include "report/status_text.h"

namespace mpitron::report {
namespace status_lines_test {

TEST(StatusJson, HasTheSameFigures) {
  const RunFolder run = sample_run();
  const auto json = nlohmann::json::parse(status_json(run, run.written));
  EXPECT_EQ(json.at("state"), "running");
  EXPECT_EQ(json.at("seconds_left"), 375);
  EXPECT_EQ(json.at("busy_seconds").at("slowest_rank"), 3);
  EXPECT_EQ(json.at("loss"), 3);
  EXPECT_TRUE(nlohmann::json::parse(status_json({}, {})).at("loss").is_null());
}

}  // namespace status_lines_test

}  // namespace mpitron::report

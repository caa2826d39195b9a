#include "doctor/check_result.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mpitron::doctor {
namespace check_result_test {

using Results = std::vector<CheckResult>;

const CheckResult kGood{"limits", Verdict::ok, "unlimited", ""};
const CheckResult kBad{"limits", Verdict::fail, "64 KiB", "ulimit -l unlimited"};
const CheckResult kOdd{"network", Verdict::warn, "say \"eth0\"", "unset X"};

TEST(CheckResult, TravelsAsText) {
  const Results all = {kGood, kBad, kOdd, {"gpu", Verdict::skipped, "", ""}};
  EXPECT_EQ(read_results(to_text(all)), all);
  EXPECT_EQ(read_results(to_text({})), Results());
}

TEST(CheckResult, OnlyFailuresCount) {
  EXPECT_TRUE(passed({}));
  EXPECT_TRUE(passed({kGood, kOdd, {"gpu", Verdict::skipped, "", ""}}));
  EXPECT_FALSE(passed({kGood, kBad}));
}

TEST(Merge, WhatAllSayIsToldOnce) {
  EXPECT_EQ(merge({{"n1", {kGood, kOdd}}, {"n2", {kGood, kOdd}}}), Results({kGood, kOdd}));
  EXPECT_EQ(merge({}), Results());
}

TEST(Merge, OtherOpinionsNameTheirMachines) {
  const Results merged =
      merge({{"n1", {kGood}}, {"n2", {kBad}}, {"n3", {kBad}}, {"n4", {kGood, kOdd}}});
  ASSERT_EQ(merged.size(), 3U);
  EXPECT_EQ(merged[0].found, "n[1,4]: unlimited");
  EXPECT_EQ(merged[1].found, "n[2-3]: 64 KiB");
  EXPECT_EQ(merged[1].advice, kBad.advice);
  EXPECT_EQ(merged[2].found, "n4: say \"eth0\"");
}

TEST(Report, HasALineForEachCheckAndItsAdvice) {
  EXPECT_EQ(to_report({kGood, kBad}),
            "ok       limits  unlimited\n"
            "fail     limits  64 KiB\n"
            "                 -> ulimit -l unlimited\n"
            "1 ok, 0 warn, 1 fail, 0 skipped");
}

TEST(Report, SpeaksJson) {
  const auto parsed = nlohmann::json::parse(to_json({kBad, kOdd}));
  EXPECT_EQ(parsed.at("ok"), false);
  EXPECT_EQ(parsed.at("checks").size(), 2U);
  EXPECT_EQ(parsed["checks"][0]["verdict"], "fail");
  EXPECT_EQ(parsed["checks"][1]["found"], "say \"eth0\"");
  EXPECT_EQ(parsed["checks"][1]["advice"], "unset X");
  EXPECT_EQ(nlohmann::json::parse(to_json({})).at("ok"), true);
}

}  // namespace check_result_test
}  // namespace mpitron::doctor

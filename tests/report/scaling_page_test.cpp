#include <gtest/gtest.h>

#include "report/pages.h"
#include "utils/error.h"

namespace mpitron::report {
namespace scaling_page_test {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ScalingPage, HasPlotsAndTableAndNothingFromElsewhere) {
  const Study study{.name = "tiny & <small>", .warm_up = 3};
  const std::string page = scaling_page(
      study, {{.name = "<one>", .ranks = 1, .tokens_per_second = 10, .efficiency = 1},
              {.name = "two", .ranks = 2, .tokens_per_second = 18, .efficiency = 0.9}});
  EXPECT_TRUE(has(page, "<h1>tiny &amp; &lt;small&gt;</h1>"));
  EXPECT_TRUE(has(page, "weak scaling · the median iteration behind 3"));
  EXPECT_TRUE(has(page, "&lt;one&gt;") && !has(page, "<one>"));
  EXPECT_TRUE(has(page, "<td class=\"number\">0.900</td>"));
  EXPECT_TRUE(has(page, "<svg"));
  EXPECT_FALSE(has(page, "published</text>") || has(page, "MFU, %</h2>")) << "where there is none";
  EXPECT_FALSE(has(page, "<script") || has(page, "src=") || has(page, "http"));
}

TEST(ScalingPage, ComparesWithPublishedFiguresBeforeAnythingRan) {
  const Study study{.name = "large", .kind = ScalingKind::strong};
  const std::string page =
      scaling_page(study, {{.name = "a", .ranks = 32, .published_tflops = 137},
                           {.name = "b", .ranks = 3072, .published_tflops = 163}});
  EXPECT_TRUE(has(page, "strong scaling"));
  EXPECT_TRUE(has(page, "published</text>") && has(page, "nothing was measured"));
  EXPECT_FALSE(has(page, "nan"));
}

TEST(ScalingPage, TellsWhatTheModelSays) {
  const Study study{.name = "tiny"};
  const std::string page = scaling_page(study, {{.name = "a",
                                                 .ranks = 1,
                                                 .seconds_per_iteration = 2,
                                                 .model = 18,
                                                 .model_error = 0.05,
                                                 .model_parts = "products 80.0 %"}});
  EXPECT_TRUE(has(page, "model's error, %</th>") && has(page, "<td class=\"number\">5.0</td>"));
  EXPECT_TRUE(has(page, "<td>products 80.0 %</td>"));
  EXPECT_FALSE(has(page, "published TFLOP/s per rank</th>")) << "no column without a value";
  EXPECT_TRUE(has(page, "<title>model: 18 at 1</title>")) << "a point alone is drawn";
}

TEST(ScalingPage, WhatOthersHavePublishedIsGrey) {
  const Study study{.name = "large"};
  const std::string page = scaling_page(
      study, {{.name = "a", .ranks = 32, .tflops_per_rank = 100}},
      {{.name = "somebody", .points = {{64, 137}}, .elsewhere = true, .joined = false}});
  EXPECT_TRUE(has(page, "grey: published measurements"));
  EXPECT_TRUE(has(page, "<title>somebody: 137 at 64</title>"));
  EXPECT_FALSE(has(page, ">somebody</text>")) << "not in the legend";
}

}  // namespace scaling_page_test

}  // namespace mpitron::report

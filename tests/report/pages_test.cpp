#include "report/pages.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/corpus.h"

namespace mpitron::report {
namespace pages_test {

TEST(RunPage, HoldsTheRunsAndNothingFromElsewhere) {
  const nlohmann::json runs = {{"runs", {{{"name", "</script><img src=x>"}}}}};
  const std::string page = run_page("two & three", runs.dump(), "var Chart = {};");
  EXPECT_NE(page.find("<title>two &amp; three</title>"), std::string::npos);
  EXPECT_NE(page.find("<script>var Chart = {};</script>"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("src="), page.rfind("src=")) << "the run's name, in its JSON";
  const std::string begin = "id=\"runs\">";
  const std::size_t at = page.find(begin) + begin.size();
  EXPECT_EQ(nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at)), runs);
}

TEST(RunPage, SaysHowToGetTheLibrary) {
  const test::TemporaryFolder folder;
  const auto message = [&](const std::string& name) {
    return test::message_of([&] { read_chart_library(folder / name); });
  };
  EXPECT_NE(message("missing.js").find("libjs-chart.js"), std::string::npos);
  test::write_bytes(folder / "other.js", "alert(1)");
  EXPECT_NE(message("other.js").find("no Chart.js"), std::string::npos);
  test::write_bytes(folder / "chart.js", "Chart");
  EXPECT_EQ(read_chart_library(folder / "chart.js"), "Chart");
}

}  // namespace pages_test

}  // namespace mpitron::report

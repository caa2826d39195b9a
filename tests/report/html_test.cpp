#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/svg_plot.h"

namespace mpitron::report {
namespace html_test {

TEST(HtmlText, EscapesWhatMeansSomething) {
  EXPECT_EQ(html_text(R"(<a href="x" id='y'>&</a>)"),
            "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;&lt;/a&gt;");
  EXPECT_EQ(html_text("größer"), "größer");
}

TEST(ScriptJson, CannotEndItsElementAndMeansTheSame) {
  const nlohmann::json json = {{"name", "</script><script>alert(1)</script><!--"}};
  const std::string text = script_json(json.dump());
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(text), json);
}

TEST(HtmlPage, IsWholeAndEscapesItsTitle) {
  const std::string page = html_page("a < b", "p{}", "<p>text</p>");
  EXPECT_EQ(page.find("<!doctype html>"), 0U);
  EXPECT_NE(page.find("<title>a &lt; b</title>"), std::string::npos);
  EXPECT_NE(page.find("p{}</style>"), std::string::npos);
  EXPECT_NE(page.find("<body>\n<p>text</p>"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
}

}  // namespace html_test
}  // namespace mpitron::report

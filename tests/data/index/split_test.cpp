#include "data/index/split.h"

#include <gtest/gtest.h>

#include "support/golden_json.h"
#include "utils/error.h"

namespace mpitron::data {
namespace split_test {

TEST(Split, ReproducesEveryReferenceFractionAndBound) {
  const auto cases = test::golden_json("dataset/indices.json")["splits"];
  ASSERT_FALSE(cases.empty());
  for (const auto& expected : cases) {
    const SplitMatrix matrix = parse_split(expected["split"]);
    for (const Split split : kSplits) {
      const auto i = static_cast<std::size_t>(split);
      ASSERT_EQ(matrix[split].has_value(), !expected["matrix"][i].is_null()) << expected["split"];
      if (matrix[split]) {
        EXPECT_EQ(matrix[split]->begin, expected["matrix"][i][0].get<double>());
        EXPECT_EQ(matrix[split]->end, expected["matrix"][i][1].get<double>());
        for (const auto& [count, bounds] : expected["bounds"].items()) {
          const auto [begin, end] = split_bounds(*matrix[split], std::stoll(count));
          EXPECT_EQ(begin, bounds[i][0]) << expected["split"] << ' ' << count;
          EXPECT_EQ(end, bounds[i][1]) << expected["split"] << ' ' << count;
        }
      }
    }
  }
}

TEST(Split, RefusesWhatIsNoSplit) {
  for (const char* text : {"", "abc", "0,0,0", "1,2,3,4", "1.2.3"}) {
    EXPECT_NE(test::message_of([&] { parse_split(text); }).find("--split"), std::string::npos)
        << text;
  }
}

}  // namespace split_test
}  // namespace mpitron::data

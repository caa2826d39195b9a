#include "inference/grammar/code_points.h"

#include <gtest/gtest.h>

#include "inference/grammar/grammar_walk.h"
#include "utils/text/utf8.h"

namespace mpitron::inference {
namespace code_points_test {

TEST(CodePoints, AreSets) {
  CodePoints set('a', 'c');
  set.add('e', 'f');
  set.add('d', 'd');
  EXPECT_EQ(set.ranges(), (std::vector<CodePoints::Range>{{'a', 'f'}}));
  EXPECT_EQ(set.complement().complement().ranges(), set.ranges());
  EXPECT_EQ(set.common({'c', 'z'}).ranges(), (std::vector<CodePoints::Range>{{'c', 'f'}}));
  EXPECT_EQ(CodePoints::all().ranges(),
            (std::vector<CodePoints::Range>{{0, 0xD7FF}, {0xE000, CodePoints::kLast}}));
  EXPECT_TRUE(CodePoints::all().complement().empty());
}

TEST(CodePoints, BecomeTheirUtf8) {
  for (const CodePoints::Range& range : {CodePoints::Range{0x7E, 0x81},
                                         {0x7FE, 0x801},
                                         {0xFFF, 0x1001},
                                         {0xD700, 0xE001},
                                         {0xFFFE, 0x10001},
                                         {0x3FFFF, 0x40000},
                                         {0x20, 0x10FFFF}}) {
    test::Language language({{CodePoints(range.first, range.second).utf8()}});
    for (std::uint32_t point = 0; point <= CodePoints::kLast; point += point < 0x2000 ? 1 : 37) {
      const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
      std::string text;
      append_utf8(point, text);
      ASSERT_EQ(language.has(text), !surrogate && point >= range.first && point <= range.second)
          << std::hex << point;
    }
  }
}

}  // namespace code_points_test
}  // namespace mpitron::inference

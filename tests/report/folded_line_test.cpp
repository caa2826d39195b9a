#include "report/folded_line.h"

#include <gtest/gtest.h>

namespace mpitron::report {
namespace folded_line_test {

using Lines = std::vector<std::string>;

TEST(FoldedLine, GoesOnBelowWhereItIsTooLong) {
  FoldedLine line;
  line.add("one");
  line.add("two");
  line.add("three");
  EXPECT_EQ(line.lines(80), Lines{"one · two · three"});
  EXPECT_EQ(line.lines(9), (Lines{"one · two", "three"}));
  EXPECT_EQ(line.lines(1), (Lines{"one", "two", "three"}));
}

TEST(FoldedLine, LeavesOutWhatIsNotKnown) {
  FoldedLine line;
  line.add("{:.1f} s", 1.25);
  line.add("{:.1f} GB", NAN);
  EXPECT_EQ(line.lines(80), Lines{"1.2 s"});
}

TEST(FoldedLine, CharactersAreOneColumnWide) {
  EXPECT_EQ(width_of("a · b"), 5);
  EXPECT_EQ(width_of(""), 0);
}

}  // namespace folded_line_test
}  // namespace mpitron::report

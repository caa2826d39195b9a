#include "tokenizers/text/marker_finder.h"

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace marker_finder_test {

TEST(MarkerFinder, LeftmostThenByTheRule) {
  const std::vector<std::string> markers{"<a>", "<a>b", "<c"};
  const MarkerFinder first(markers, MarkerFinder::Tie::first_listed);
  const MarkerFinder longest(markers, MarkerFinder::Tie::longest);
  EXPECT_EQ(first.next("x<a>b<c", 0)->marker, 0U);
  EXPECT_EQ(longest.next("x<a>b<c", 0)->marker, 1U);
  EXPECT_EQ(first.next("x<a>b<c", 2)->at, 5U);
  EXPECT_FALSE(first.next("x<a", 0));
}

TEST(MarkerFinder, DifferentStartsAndNoMarkers) {
  const MarkerFinder finder({"b", "", "a"}, MarkerFinder::Tie::longest);
  EXPECT_EQ(finder.next("xxab", 0)->marker, 2U);
  EXPECT_EQ(finder.next("xxab", 3)->marker, 0U);
  EXPECT_FALSE(MarkerFinder({}, MarkerFinder::Tie::longest).next("ab", 0));
}

}  // namespace marker_finder_test
}  // namespace mpitron::tokenizers

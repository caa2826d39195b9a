#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/status_text.h"

namespace mpitron::report {
namespace braille_chart_test {

using Values = std::vector<double>;
using Lines = std::vector<std::string>;

const double kNan = std::nan("");

TEST(BrailleChart, AFallingLine) {
  EXPECT_EQ(braille_chart(Values{7, 6, 5, 4, 3, 2, 1, 0}, 13, 2),
            (Lines{"      7 ┤⠑⢄⠀⠀", "      0 ┤⠀⠀⠑⢄"}));
}

TEST(BrailleChart, JumpsAreStrokesAndMissingValuesGaps) {
  EXPECT_EQ(braille_chart(Values{0, 3, 0, 3}, 11, 1), (Lines{"      3 ┤⡸⡾"}));
  EXPECT_EQ(braille_chart(Values{0, 3, kNan, 3}, 11, 1), (Lines{"      3 ┤⡸⠈"}));
}

TEST(BrailleChart, ManyValuesAreAveragedAndFewAreSpread) {
  Values values;
  for (int i = 0; i < 8000; ++i) {
    values.push_back(7 - i / 1000 + (i % 2 == 0 ? 0.5 : -0.5));
  }
  EXPECT_EQ(braille_chart(values, 13, 2), (Lines{"      7 ┤⠑⢄⠀⠀", "      0 ┤⠀⠀⠑⢄"}));
  EXPECT_EQ(braille_chart(Values{2}, 11, 1), (Lines{"      2 ┤⣀⣀"}));
}

TEST(BrailleChart, NothingToDrawOrNoRoom) {
  EXPECT_TRUE(braille_chart({}, 80, 5).empty());
  EXPECT_TRUE(braille_chart(Values{kNan, INFINITY}, 80, 5).empty());
  EXPECT_TRUE(braille_chart(Values{1, 2}, 9, 5).empty());
  EXPECT_TRUE(braille_chart(Values{1, 2}, 80, 0).empty());
}

}  // namespace braille_chart_test

}  // namespace mpitron::report

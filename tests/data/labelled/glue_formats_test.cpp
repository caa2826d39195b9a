#include "data/labelled/glue_formats.h"

#include <gtest/gtest.h>

namespace mpitron::data {
namespace glue_formats_test {

TEST(GlueFormats, ColumnsHaveNoWhiteSpaceAtTheirEnds) {
  EXPECT_EQ(columns_of(" a \tb c\t \td\r"), (TextRow{"a", "b c", "", "d"}));
}

TEST(GlueFormats, TheFirstLineTellsTheForm) {
  const GlueForm form{.columns = 2, .first = "index"};
  EXPECT_TRUE(fits_form(form, {"index", "sentence"}));
  EXPECT_FALSE(fits_form(form, {"sentence", "label"}));
  EXPECT_FALSE(fits_form(form, {"index", "sentence", "label"}));
  const GlueForm any{.a = 1, .b = 2};
  EXPECT_TRUE(fits_form(any, {"a", "b", "c", "d", "e"}));
  EXPECT_FALSE(fits_form(any, {"a", "b", "c"}));
}

TEST(GlueFormats, EveryTaskIsThereOnce) {
  for (std::size_t i = 0; i < kGlueFormats.size(); ++i) {
    for (std::size_t j = i + 1; j < kGlueFormats.size(); ++j) {
      EXPECT_NE(kGlueFormats[i].task, kGlueFormats[j].task);
    }
  }
}

}  // namespace glue_formats_test
}  // namespace mpitron::data

#include "optim/style_names.h"

#include <gtest/gtest.h>

namespace mpitron::optim {
namespace style_names_test {

enum class Style { linear, cosine };
constexpr StyleNames<Style, 2> kNames{{{{"linear", Style::linear}, {"cosine", Style::cosine}}}};

TEST(StyleNames, ReadWhatTheyWrite) {
  for (const Style style : {Style::linear, Style::cosine}) {
    EXPECT_EQ(kNames.parse("lr_decay_style", kNames.name(style)), style);
  }
}

TEST(StyleNames, AnUnknownOneIsToldWithTheAllowedOnes) {
  try {
    kNames.parse("lr_decay_style", "square");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "checkpoint: lr_decay_style 'square' is unknown, this program knows linear, "
                 "cosine");
  }
}

}  // namespace style_names_test
}  // namespace mpitron::optim

#include "data/images/bad_samples.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace bad_samples_test {

TEST(BadSamples, TheNextOneOfTheListTakesTheirPlace) {
  BadSamples bad(2);
  const auto read = [](Index sample) {
    if (sample >= 3) {
      throw_data("sample {}", sample);
    }
    return 10 * sample;
  };
  Index sample = 3;
  EXPECT_EQ(bad.first_good(sample, 5, read), 0);
  EXPECT_EQ(sample, 0);
  EXPECT_EQ(bad.first_good(sample = 4, 5, read), 0);  // each counts once
  EXPECT_NE(test::message_of([&] {
              bad.first_good(sample = 3, 6, read);
            }).find("more than --skip-bad-images 2"),
            std::string::npos);
}

TEST(BadSamples, OtherErrorsAreNotForgiven) {
  BadSamples bad(9);
  Index sample = 0;
  EXPECT_THROW(bad.first_good(sample, 2, [](Index) -> int { throw_usage("no library"); }), Error);
  EXPECT_THROW(bad.first_good(sample, 2, [](Index) -> int { throw_data("all"); }), Error);
}

}  // namespace bad_samples_test
}  // namespace mpitron::data

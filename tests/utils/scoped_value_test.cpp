#include "utils/scoped_value.h"

#include <vector>

#include <gtest/gtest.h>

namespace mpitron {
namespace scoped_value_test {

TEST(ScopedValue, LastsAsLongAsTheScope) {
  std::vector<int> setting = {1, 2};
  const auto set = [&](std::vector<int> value) { setting = std::move(value); };
  {
    const ScopedValue outer(setting, {3}, set);
    EXPECT_EQ(setting, std::vector<int>{3});
    const ScopedValue inner(setting, {4, 5}, set);
    EXPECT_EQ(setting, (std::vector<int>{4, 5}));
  }
  EXPECT_EQ(setting, (std::vector<int>{1, 2}));
}

}  // namespace scoped_value_test
}  // namespace mpitron

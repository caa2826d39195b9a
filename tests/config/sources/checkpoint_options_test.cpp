#include "config/sources/checkpoint_options.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "config/values/option_table.h"

namespace mpitron::config {
namespace checkpoint_options_test {

// An option decides one thing: what shapes tensors have, or what is computed with them.
TEST(CheckpointOptions, AreOptionsAndStandInOneTable) {
  std::set<std::string> seen;
  const auto take = [&](const auto& table) {
    for (const char* dest : table) {
      EXPECT_NE(option_index().slot_of_dest(dest), OptionIndex::kNotFound) << dest;
      EXPECT_TRUE(seen.insert(dest).second) << dest;
    }
  };
  take(kShapes);
  take(kMeanings);
}

}  // namespace checkpoint_options_test
}  // namespace mpitron::config

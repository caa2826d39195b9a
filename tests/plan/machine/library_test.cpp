#include "plan/machine/library.h"

#include <gtest/gtest.h>

namespace mpitron::plan {
namespace library_test {

TEST(Library, EveryShippedFileIsFoundByItsName) {
  const Library library;
  ASSERT_FALSE(library.machines.names().empty());
  for (const std::string& name : library.machines.names()) {
    EXPECT_TRUE(library.machine(name)) << name;
  }
  for (const std::string& name : library.stacks.names()) {
    EXPECT_TRUE(library.stack(name)) << name;
  }
}

TEST(Library, KnowsNothingOfOtherMachines) {
  EXPECT_FALSE(Library().machine("abacus-1"));
  EXPECT_FALSE(Library().stack("abacus-1"));
}

}  // namespace library_test
}  // namespace mpitron::plan

#include "kernels/linear/met_shapes.h"

#include <gtest/gtest.h>

namespace mpitron::kernels {
namespace met_shapes_test {

TEST(MetShapes, AreNotedOnceWhileSomebodyWantsThem) {
  MetShapes<int> met;
  met.add(1);
  met.begin();
  EXPECT_TRUE(met.noting());
  met.add(3);
  met.add(2);
  met.add(3);
  EXPECT_EQ(met.end(), (std::set<int>{2, 3}));
  EXPECT_FALSE(met.noting());
  met.add(4);
  EXPECT_TRUE(met.end().empty());
}

TEST(MetShapes, EarlierOnesAreForgotten) {
  MetShapes<int> met;
  met.begin();
  met.add(1);
  met.begin();
  EXPECT_TRUE(met.end().empty());
}

}  // namespace met_shapes_test
}  // namespace mpitron::kernels

#include "kernels/sparse_attention/visible_keys.h"

#include <gtest/gtest.h>

#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels {
namespace visible_keys_test {

/// A mask of one sample and one query holds for all.
TEST(VisibleKeys, AreThoseBeforeThatNoMaskHides) {
  TestTensor all(DType::u8, {1, 1, 3}, {0, 1, 0}),
      each(DType::u8, {2, 2, 2}, {0, 0, 0, 1, 0, 0, 1, 0});
  const VisibleKeys shared(all.view(), 1, 2), own(each.view(), 1, 1), free({}, 4, 0);
  EXPECT_EQ(shared.end(), 3);
  EXPECT_TRUE(shared(0) && !shared(1) && shared(2));
  EXPECT_TRUE(!own(0) && own(1));
  EXPECT_TRUE(free.end() == 1 && free(0));
}

}  // namespace visible_keys_test
}  // namespace mpitron::kernels

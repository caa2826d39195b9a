#include "kernels/state_space/document_starts.h"

#include <gtest/gtest.h>

namespace mpitron::kernels {
namespace document_starts_test {

TEST(DocumentStarts, SaysWhereDocumentsBegin) {
  const std::int32_t numbers[] = {0, 0, 0, 1, 2, 1};
  const DocumentStarts starts(device::In(numbers, DType::i32, {3, 2}));
  EXPECT_TRUE(starts.several());
  EXPECT_EQ(starts(2, 1), 1);
  EXPECT_TRUE(starts.begins(2, 0) && starts.begins(1, 1));
  EXPECT_FALSE(starts.begins(1, 0) || starts.begins(2, 1));
}

TEST(DocumentStarts, WithoutThemASequenceIsOneDocument) {
  const DocumentStarts none{device::In()};
  EXPECT_FALSE(none.several());
  EXPECT_EQ(none(5, 1), 0);
  EXPECT_TRUE(none.begins(0, 0));
}

}  // namespace document_starts_test
}  // namespace mpitron::kernels

#include "comm/groups/stream_copy.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron::comm {
namespace stream_copy_test {

TEST(StreamCopy, CopiesExactlyTheseBytesAtAnyAlignment) {
  std::vector<unsigned char> from(1000);
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
  for (const std::size_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 700}) {
    for (std::size_t shift = 0; shift < 70; shift += 3) {
      std::vector<unsigned char> to(1000, 0);
      stream_copy(to.data() + shift, from.data() + 7, static_cast<Index>(bytes));
      std::vector<unsigned char> expected(1000, 0);
      std::copy_n(from.begin() + 7, bytes, expected.begin() + static_cast<std::ptrdiff_t>(shift));
      ASSERT_EQ(to, expected) << bytes << " at " << shift;
    }
  }
}

TEST(StreamCopy, PartsOfLargeAndSmallCopiesAreCopied) {
  const std::vector<unsigned char> from(300, 7);
  for (const Index whole : {Index{300}, Index{1} << 30}) {
    std::vector<unsigned char> to(300, 0);
    copy_part(to.data(), from.data(), 200, whole);
    EXPECT_EQ(std::count(to.begin(), to.end(), 7), 200);
  }
}

TEST(StreamCopy, CopyingNothingTouchesNothing) {
  copy_bytes(nullptr, nullptr, 0);
  unsigned char byte = 3;
  copy_bytes(&byte, &byte, 1);
  EXPECT_EQ(byte, 3);
}

}  // namespace stream_copy_test
}  // namespace mpitron::comm

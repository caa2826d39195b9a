#include "comm/stream_copy.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron::comm {
namespace {

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

}  // namespace
}  // namespace mpitron::comm

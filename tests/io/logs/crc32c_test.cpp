#include <string>

#include <gtest/gtest.h>

#include "io/logs/tensorboard.h"

namespace mpitron::io {

// Vectors of RFC 3720, B.4.
TEST(Crc32c, KnownAnswers) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string ascending;
  for (int i = 0; i < 32; ++i) {
    ascending += static_cast<char>(i);
  }
  EXPECT_EQ(crc32c(ascending), 0x46dd794eU);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, MaskIsARotationAndAnOffset) {
  // rotate right by 15: 0xe3069283 -> 0x2507c60d, plus 0xa282ead8
  EXPECT_EQ(masked_crc32c("123456789"), 0x2507c60dU + 0xa282ead8U);
}

}  // namespace mpitron::io

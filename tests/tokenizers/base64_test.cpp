#include "tokenizers/base64.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::tokenizers {
namespace {

// The vectors of RFC 4648.
TEST(Base64, KnownVectors) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
  EXPECT_EQ(decode_base64("/+8"), "\xFF\xEF");
  EXPECT_THROW(decode_base64("Zg=a"), Error);
  EXPECT_THROW(decode_base64("Z g="), Error);
}

}  // namespace
}  // namespace mpitron::tokenizers

#include <gtest/gtest.h>

#include "io/compressed.h"

namespace mpitron::io {
namespace gzip_source_test {

using test::gzip, test::kGzip;

TEST(GzipSource, MembersMayBeEmptyOrPadded) {
  const std::string zeros(10, '\0');
  const std::string members = gzip("one ") + gzip("") + zeros + gzip("two") + gzip("") + zeros;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, members.size()}) {
    EXPECT_EQ(kGzip.read(members, piece), "one two");
  }
}

TEST(GzipSource, AHeaderMayHoldAName) {
  std::string bytes = gzip("text");
  bytes[3] = 8;  // FNAME
  bytes.insert(10, std::string("name.txt\0", 9));
  EXPECT_EQ(kGzip.read(bytes), "text");
  EXPECT_EQ(kGzip.read(bytes, 1), "text");
}

TEST(GzipSource, SaysWhatIsDamaged) {
  const std::string bytes = gzip("some text");
  std::string checksum = bytes;
  checksum[bytes.size() - 8] ^= 1;
  kGzip.expect_damaged(checksum, "incorrect data check");
  std::string length = bytes;
  length.back() ^= 1;
  kGzip.expect_damaged(length, "incorrect length check");
  std::string method = bytes;
  method[2] = 7;
  kGzip.expect_damaged(method, "unknown compression method");
  kGzip.expect_damaged(bytes + "garbage", "incorrect header check");
  kGzip.expect_damaged(std::string(3, '\0') + bytes, "incorrect header check");
  kGzip.expect_damaged("\x78\x9c zlib's own header", "incorrect header check");
}

}  // namespace gzip_source_test
}  // namespace mpitron::io

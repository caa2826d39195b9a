#include "utils/text/hash.h"

#include <gtest/gtest.h>

namespace mpitron {

namespace hash_test {

// Published values of XXH3 (xxHash 0.8): the empty input, and what `xxhsum -H3` and `-H2` print.
TEST(Hash, KnownAnswers) {
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2u);
  EXPECT_EQ(hash64("a"), 0xe6c632b61e964e1fu);
  EXPECT_EQ(hash64("abc"), 0x78af5f94892f3950u);
  EXPECT_EQ(hash128_hex(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash128_hex("a"), "a96faf705af16834e6c632b61e964e1f");
  EXPECT_EQ(hash128_hex("abc"), "06b05ab6733a618578af5f94892f3950");
}

TEST(Hash, DependsOnSeedLengthAndEveryByte) {
  EXPECT_NE(hash64("abc", 0), hash64("abc", 1));
  std::string text(1000, 'x');
  const std::uint64_t whole = hash64(text);
  const std::string wide = hash128_hex(text);
  EXPECT_EQ(wide.size(), 32U);
  EXPECT_NE(hash64(text + '\0'), whole);
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = 'y';
    EXPECT_NE(hash64(text), whole) << i;
    EXPECT_NE(hash128_hex(text), wide) << i;
    text[i] = 'x';
  }
  EXPECT_EQ(hash64(text), whole);
}

}  // namespace hash_test

// RFC 1321, appendix A.5.
TEST(Md5, KnownAnswers) {
  EXPECT_EQ(md5_hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5_hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(md5_hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(md5_hex("1234567890123456789012345678901234567890123456789012345678901234567890123456"
                    "7890"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

}  // namespace mpitron

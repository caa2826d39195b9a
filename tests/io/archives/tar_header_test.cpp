#include "io/archives/tar_header.h"

#include <gtest/gtest.h>

#include "support/tar.h"

namespace mpitron::io {
namespace tar_header_test {

TEST(TarHeader, TellsNameSizeAndKind) {
  const std::string archive = test::tar_of({{"a/1.txt", "one"}});
  TarHeader header{std::string_view(archive).substr(0, 512)};
  EXPECT_TRUE(header.sum_agrees());
  EXPECT_EQ(header.name(), "a/1.txt");
  EXPECT_EQ(header.bytes(), 3);
  EXPECT_FALSE(header.empty());
  std::string other = archive.substr(0, 512);
  other[0] ^= 1;
  EXPECT_FALSE(TarHeader{other}.sum_agrees());
}

TEST(TarHeader, NumbersAreOctalOrInBase256) {
  using namespace std::string_view_literals;
  EXPECT_EQ(tar_number_of(" 0000017 \0"sv), 15);
  EXPECT_EQ(tar_number_of("\x80\0\0\0\1\2"sv), 258);
  EXPECT_EQ(tar_number_of("12x"sv), std::nullopt);
}

TEST(TarHeader, RecordsOfPaxReplaceNameAndSize) {
  TarExtension extension;
  EXPECT_TRUE(read_pax("12 path=a/b\n12 size=123\n", extension));
  EXPECT_EQ(extension.name, "a/b");
  EXPECT_EQ(extension.bytes, 123);
  EXPECT_FALSE(read_pax("99 path=a\n", extension));
  EXPECT_FALSE(read_pax("11 size=1x\n", extension));
}

}  // namespace tar_header_test
}  // namespace mpitron::io

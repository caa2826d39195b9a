#include "io/arrays/byte_reader.h"

#include <gtest/gtest.h>

namespace mpitron::io {
namespace byte_reader_test {

TEST(ByteReader, StaysInsideItsBytes) {
  const std::string text("\x01\x02\x03\x04line\nrest", 13);
  const std::string source = "file";
  ByteReader in(std::as_bytes(std::span(text)), source);
  EXPECT_EQ(in.number<std::uint32_t>(), 0x04030201u);
  EXPECT_EQ(in.line(), "line");
  EXPECT_EQ(in.remaining(), 4u);
  EXPECT_THROW(in.line(), Error);
  EXPECT_THROW(in.number<std::uint64_t>(), Error);
  EXPECT_THROW(in.take(~std::uint64_t{0}), Error);
  EXPECT_THROW(in.seek(14), Error);
  EXPECT_EQ(in.text(4), "rest");
  in.seek(4);
  EXPECT_EQ(in.text(4), "line");
  try {
    in.take(100);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("file: byte 8"), std::string::npos) << error.what();
  }
}

}  // namespace byte_reader_test
}  // namespace mpitron::io

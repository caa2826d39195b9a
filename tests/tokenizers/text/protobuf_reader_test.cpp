#include "tokenizers/text/protobuf_reader.h"

#include <string>

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::tokenizers {
namespace protobuf_reader_test {

using namespace std::string_view_literals;

TEST(ProtobufReader, ReadsEveryWireType) {
  ProtobufReader reader(
      "\x08\x96\x01\x12\x03"
      "abc\x1D\x00\x00\x80\x3F\x21\x01\0\0\0\0\0\0\0"sv);
  ProtobufReader::Field field;
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.number, 1U);
  EXPECT_EQ(field.integer, 150U);
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.bytes, "abc");
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.single(), 1.0F);
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.integer, 1U);
  EXPECT_FALSE(reader.next(field));
}

TEST(ProtobufReader, RefusesBrokenBytes) {
  for (const auto bytes :
       {"\x12\x05"
        "abc"sv,
        "\x08"sv, "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"sv, "\x0B"sv, "\x1D\x00"sv}) {
    ProtobufReader reader(bytes);
    ProtobufReader::Field field;
    EXPECT_THROW(reader.next(field), Error);
  }
}

}  // namespace protobuf_reader_test
}  // namespace mpitron::tokenizers

#include <gtest/gtest.h>

#include "io/byte_source.h"
#include "io/compressed.h"
#include "support/corpus.h"

namespace mpitron::io {
namespace {

using test::gzip;

std::string gunzip_all(const std::string& bytes, std::size_t piece = 1 << 20,
                       std::size_t wanted = 1000) {
  const auto source = gunzip(std::make_unique<test::SourceInPieces>(bytes, piece), "f.gz");
  return test::read_all(*source, wanted);
}

void expect_damaged(const std::string& bytes, const std::string& part) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1} << 20}) {
    const std::string message = test::message_of([&] { gunzip_all(bytes, piece); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find("f.gz: "), std::string::npos) << message;
    EXPECT_NE(message.find("test it with: gzip -t f.gz"), std::string::npos) << message;
  }
}

TEST(GzipSource, GivesTheSameBytesHoweverTheyArrive) {
  const std::string nul("a\0b\xff\n", 5);
  for (const std::string& text : {std::string(), std::string("a"), nul, std::string(5000, 'x')}) {
    for (const std::size_t piece : {1, 7, 100000}) {
      for (const std::size_t wanted : {1, 13, 100000}) {
        EXPECT_EQ(gunzip_all(gzip(text), piece, wanted), text);
      }
    }
  }
}

TEST(GzipSource, MembersMayBeEmptyOrPadded) {
  const std::string zeros(10, '\0');
  const std::string members = gzip("one ") + gzip("") + zeros + gzip("two") + gzip("") + zeros;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, members.size()}) {
    EXPECT_EQ(gunzip_all(members, piece), "one two");
  }
  EXPECT_EQ(gunzip_all(""), "");
}

TEST(GzipSource, AHeaderMayHoldAName) {
  std::string bytes = gzip("text");
  bytes[3] = 8;  // FNAME
  bytes.insert(10, std::string("name.txt\0", 9));
  EXPECT_EQ(gunzip_all(bytes), "text");
  EXPECT_EQ(gunzip_all(bytes, 1), "text");
}

TEST(GzipSource, SkipsWhatIsNotWanted) {
  const auto open = [] {
    return gunzip(std::make_unique<test::SourceInPieces>(gzip("0123") + gzip("456789"), 5), "f");
  };
  const auto source = open();
  source->skip(0);
  source->skip(6);
  char next = 0;
  ASSERT_EQ(source->read(&next, 1), 1U);
  EXPECT_EQ(next, '6');
  const std::string message = test::message_of([&] { open()->skip(12); });
  EXPECT_NE(message.find("ends 2 bytes before"), std::string::npos) << message;
}

TEST(GzipSource, EveryCutIsFound) {
  const std::string bytes = gzip("some text");
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    expect_damaged(bytes.substr(0, size), "ends in the middle of its gzip data; it was cut");
  }
  expect_damaged(bytes + bytes.substr(0, 4), "(byte " + std::to_string(bytes.size() + 4) + " of");
}

TEST(GzipSource, SaysWhatIsDamaged) {
  const std::string bytes = gzip("some text");
  std::string checksum = bytes;
  checksum[bytes.size() - 8] ^= 1;
  expect_damaged(checksum, "incorrect data check");
  std::string length = bytes;
  length.back() ^= 1;
  expect_damaged(length, "incorrect length check");
  std::string method = bytes;
  method[2] = 7;
  expect_damaged(method, "unknown compression method");
  expect_damaged(bytes + "garbage", "incorrect header check");
  expect_damaged(std::string(3, '\0') + bytes, "incorrect header check");
  expect_damaged("\x78\x9c zlib's own header", "incorrect header check");
}

}  // namespace
}  // namespace mpitron::io

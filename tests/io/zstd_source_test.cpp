#include <gtest/gtest.h>

#include "io/byte_source.h"
#include "io/compressed.h"
#include "support/corpus.h"

namespace mpitron::io {
namespace {

using test::zstd;

std::string unzstd_all(const std::string& bytes, std::size_t piece = 1 << 20,
                       std::size_t wanted = 1000) {
  const auto source = unzstd(std::make_unique<test::SourceInPieces>(bytes, piece), "f.zst");
  return test::read_all(*source, wanted);
}

void expect_damaged(const std::string& bytes, const std::string& part) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1} << 20}) {
    const std::string message = test::message_of([&] { unzstd_all(bytes, piece); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find("f.zst: "), std::string::npos) << message;
    EXPECT_NE(message.find("test it with: zstd -t f.zst"), std::string::npos) << message;
  }
}

TEST(ZstdSource, GivesTheSameBytesHoweverTheyArrive) {
  const std::string nul("a\0b\xff\n", 5);
  for (const std::string& text : {std::string(), std::string("a"), nul, std::string(5000, 'x')}) {
    for (const std::size_t piece : {1, 7, 100000}) {
      for (const std::size_t wanted : {1, 13, 100000}) {
        EXPECT_EQ(unzstd_all(zstd(text), piece, wanted), text);
      }
    }
  }
}

// Exactly as much is wanted as a block or a frame holds: nothing is left inside.
TEST(ZstdSource, OutputThatIsJustFull) {
  const std::string text(std::size_t{1} << 18, 'y');
  for (const std::size_t wanted : {std::size_t{1} << 17, text.size()}) {
    EXPECT_EQ(unzstd_all(zstd(text) + zstd(text), 1 << 20, wanted), text + text);
  }
}

TEST(ZstdSource, FramesMayBeEmptyOrSkippable) {
  const std::string skippable("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
  const std::string frames =
      skippable + zstd("one ") + zstd("") + skippable + zstd("two") + skippable;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, frames.size()}) {
    EXPECT_EQ(unzstd_all(frames, piece), "one two");
  }
  EXPECT_EQ(unzstd_all(""), "");
}

TEST(ZstdSource, SkipsWhatIsNotWanted) {
  const auto open = [] {
    return unzstd(std::make_unique<test::SourceInPieces>(zstd("0123") + zstd("456789"), 5), "f");
  };
  const auto source = open();
  source->skip(6);
  char next = 0;
  ASSERT_EQ(source->read(&next, 1), 1U);
  EXPECT_EQ(next, '6');
  const std::string message = test::message_of([&] { open()->skip(12); });
  EXPECT_NE(message.find("ends 2 bytes before"), std::string::npos) << message;
}

TEST(ZstdSource, EveryCutIsFound) {
  const std::string bytes = zstd("some text");
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    expect_damaged(bytes.substr(0, size), "ends in the middle of its zstd data; it was cut");
  }
  expect_damaged(bytes + bytes.substr(0, 4), "(byte " + std::to_string(bytes.size() + 4) + " of");
}

TEST(ZstdSource, SaysWhatIsDamaged) {
  const std::string bytes = zstd("some text");
  std::string checksum = bytes;
  checksum.back() ^= 1;
  expect_damaged(checksum, "checksum");
  expect_damaged("garbage garbage", "Unknown frame descriptor");
  expect_damaged(bytes + "garbage", "Unknown frame descriptor");
}

}  // namespace
}  // namespace mpitron::io

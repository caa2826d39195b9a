#include <gtest/gtest.h>
#include <zstd.h>

#include "io/byte_source.h"
#include "support/corpus.h"

namespace mpitron::io {
namespace {

// A frame with a checksum at its end.
std::string zstd_of(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

// Gives its bytes in pieces of at most `piece`.
class PiecesOfFrames : public ByteSource {
 public:
  PiecesOfFrames(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
  std::size_t read(char* out, std::size_t bytes) override {
    const std::size_t n = bytes_.copy(out, std::min(bytes, piece_), at_);
    at_ += n;
    return n;
  }

 private:
  std::string bytes_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

std::string unzstd_all(const std::string& bytes, std::size_t piece = 1 << 20,
                       std::size_t wanted = 1000) {
  const auto source = unzstd(std::make_unique<PiecesOfFrames>(bytes, piece), "f.zst");
  std::string all;
  std::string buffer(wanted, '\0');
  while (const std::size_t n = source->read(buffer.data(), wanted)) {
    EXPECT_LE(n, wanted);
    all.append(buffer, 0, n);
  }
  EXPECT_EQ(source->read(buffer.data(), wanted), 0U) << "the end stays the end";
  return all;
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
      for (const std::size_t wanted : {1, 13, 100000})
        EXPECT_EQ(unzstd_all(zstd_of(text), piece, wanted), text);
    }
  }
}

// Exactly as much is wanted as a block or a frame holds: nothing is left inside.
TEST(ZstdSource, OutputThatIsJustFull) {
  const std::string text(std::size_t{1} << 18, 'y');
  for (const std::size_t wanted : {std::size_t{1} << 17, text.size()})
    EXPECT_EQ(unzstd_all(zstd_of(text) + zstd_of(text), 1 << 20, wanted), text + text);
}

TEST(ZstdSource, FramesMayBeEmptyOrSkippable) {
  const std::string skippable("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
  const std::string frames =
      skippable + zstd_of("one ") + zstd_of("") + skippable + zstd_of("two") + skippable;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, frames.size()})
    EXPECT_EQ(unzstd_all(frames, piece), "one two");
  EXPECT_EQ(unzstd_all(""), "");
}

TEST(ZstdSource, SkipsWhatIsNotWanted) {
  const auto open = [] {
    return unzstd(std::make_unique<PiecesOfFrames>(zstd_of("0123") + zstd_of("456789"), 5), "f");
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
  const std::string bytes = zstd_of("some text");
  for (std::size_t size = 1; size < bytes.size(); ++size)
    expect_damaged(bytes.substr(0, size), "ends in the middle of its zstd data; it was cut");
  expect_damaged(bytes + bytes.substr(0, 4), "(byte " + std::to_string(bytes.size() + 4) + " of");
}

TEST(ZstdSource, SaysWhatIsDamaged) {
  const std::string bytes = zstd_of("some text");
  std::string checksum = bytes;
  checksum.back() ^= 1;
  expect_damaged(checksum, "checksum");
  expect_damaged("garbage garbage", "Unknown frame descriptor");
  expect_damaged(bytes + "garbage", "Unknown frame descriptor");
}

}  // namespace
}  // namespace mpitron::io

#include <gtest/gtest.h>
#include <zlib.h>

#include "io/byte_source.h"
#include "support/corpus.h"

namespace mpitron::io {
namespace {

std::string gzip_of(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Gives its bytes in pieces of at most `piece`.
class PiecesToInflate : public ByteSource {
 public:
  PiecesToInflate(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
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

std::string gunzip_all(const std::string& bytes, std::size_t piece = 1 << 20,
                       std::size_t wanted = 1000) {
  const auto source = gunzip(std::make_unique<PiecesToInflate>(bytes, piece), "f.gz");
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
      for (const std::size_t wanted : {1, 13, 100000})
        EXPECT_EQ(gunzip_all(gzip_of(text), piece, wanted), text);
    }
  }
}

TEST(GzipSource, MembersMayBeEmptyOrPadded) {
  const std::string zeros(10, '\0');
  const std::string members =
      gzip_of("one ") + gzip_of("") + zeros + gzip_of("two") + gzip_of("") + zeros;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, members.size()})
    EXPECT_EQ(gunzip_all(members, piece), "one two");
  EXPECT_EQ(gunzip_all(""), "");
}

TEST(GzipSource, AHeaderMayHoldAName) {
  std::string bytes = gzip_of("text");
  bytes[3] = 8;  // FNAME
  bytes.insert(10, std::string("name.txt\0", 9));
  EXPECT_EQ(gunzip_all(bytes), "text");
  EXPECT_EQ(gunzip_all(bytes, 1), "text");
}

TEST(GzipSource, SkipsWhatIsNotWanted) {
  const auto open = [] {
    return gunzip(std::make_unique<PiecesToInflate>(gzip_of("0123") + gzip_of("456789"), 5), "f");
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
  const std::string bytes = gzip_of("some text");
  for (std::size_t size = 1; size < bytes.size(); ++size)
    expect_damaged(bytes.substr(0, size), "ends in the middle of its gzip data; it was cut");
  expect_damaged(bytes + bytes.substr(0, 4), "(byte " + std::to_string(bytes.size() + 4) + " of");
}

TEST(GzipSource, SaysWhatIsDamaged) {
  const std::string bytes = gzip_of("some text");
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

#include "io/compressed/byte_source.h"

#include <gtest/gtest.h>

#include "io/compressed.h"
#include "support/corpus.h"

namespace mpitron::io {
namespace byte_source_test {

using test::gzip;
using test::zstd;

class ByteSourceTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) const {
    test::write_bytes(folder_ / name, bytes);
    return folder_ / name;
  }
  static std::string read_all(const std::string& file, std::size_t piece, Index from = 0) {
    const auto source = open_source(file);
    source->skip(from);
    std::string all;
    std::string buffer(piece, '\0');
    while (const std::size_t n = source->read(buffer.data(), piece)) {
      all.append(buffer, 0, n);
    }
    return all;
  }
  static std::string message(const std::string& file) {
    return test::message_of([&] { read_all(file, 1000); });
  }
  std::string text() const {
    std::string text;
    for (int i = 0; i < 60000; ++i) {
      text += std::to_string(i * 7919) + '\n';
    }
    return text;
  }
  test::TemporaryFolder folder_;
};

TEST_F(ByteSourceTest, GivesTheSameBytesFromEveryFormat) {
  for (const std::string& content : {text(), std::string(), std::string("a")}) {
    const std::string plain = write("t.jsonl", content);
    const std::string gz = write("t.jsonl.gz", gzip(content));
    const std::string zst = write("t.jsonl.zst", zstd(content));
    for (const std::string& file : {plain, gz, zst}) {
      for (const std::size_t piece : {std::size_t{3}, std::size_t{4096}, std::size_t{1} << 20}) {
        EXPECT_EQ(read_all(file, piece), content) << file;
      }
      EXPECT_EQ(read_all(file, 1000, std::ssize(content) / 2), content.substr(content.size() / 2));
      EXPECT_EQ(read_all(file, 1000, std::min<Index>(3, std::ssize(content))),
                content.substr(std::min<std::size_t>(3, content.size())));
    }
  }
}

TEST_F(ByteSourceTest, MembersAndFramesFollowEachOther) {
  const std::string content = text();
  EXPECT_EQ(read_all(write("a.gz", gzip("one ") + gzip("") + gzip(content)), 999),
            "one " + content);
  EXPECT_EQ(read_all(write("b.zst", zstd("one ") + zstd("") + zstd(content)), 999),
            "one " + content);
  EXPECT_EQ(read_all(write("c.gz", gzip("x") + std::string(512, '\0')), 999), "x");
}

TEST_F(ByteSourceTest, WhatWasCutIsAnErrorAndNeverShort) {
  for (const std::string& whole : {gzip(text()), zstd(text())}) {
    for (const std::size_t kept :
         {whole.size() - 1, whole.size() - 9, whole.size() / 2, std::size_t{20}, std::size_t{6}}) {
      EXPECT_NE(message(write("cut", whole.substr(0, kept))).find("it was cut"), std::string::npos)
          << kept;
    }
  }
  EXPECT_NE(message(write("garbage.gz", gzip("x") + "garbage")).find("header"), std::string::npos);
}

TEST_F(ByteSourceTest, RefusesOtherFormatsByName) {
  EXPECT_NE(message(write("a.xz", std::string("\xFD"
                                              "7zXZ\0abc",
                                              9)))
                .find("xzcat"),
            std::string::npos);
  EXPECT_NE(message(write("a.bz2", "BZh91AY")).find("bzcat"), std::string::npos);
  EXPECT_NE(message(write("a.gz", "{\"text\": 1}")).find("not of that format"), std::string::npos);
  EXPECT_NE(message(folder_ / "none").find("cannot open"), std::string::npos);
  const std::string small = write("small", "abc");
  EXPECT_NE(
      test::message_of([&] { read_all(write("s.gz", gzip("abc")), 10, 100); }).find("ends 97"),
      std::string::npos);
}

// Damage is found or harmless (it hit a name or a date): never other bytes, never a crash. zstd's
// check is optional, so that of its damaged files only the behaviour counts.
TEST_F(ByteSourceTest, MutationsAreFoundOrHarmless) {
  const std::string content = text().substr(0, 5000);
  test::for_each_mutation(gzip(content), 1500, [&](const std::string& bytes) {
    const std::string file = write("m", bytes);
    std::string found;
    const std::string error = test::message_of([&] { found = read_all(file, 700); });
    const bool plain = !bytes.starts_with("\x1f\x8b");
    EXPECT_TRUE(plain || !error.empty() || found == content);
  });
  test::for_each_mutation(zstd(content), 1500, [&](const std::string& bytes) {
    const std::string file = write("m", bytes);
    test::message_of([&] { read_all(file, 700); });
  });
}

}  // namespace byte_source_test
}  // namespace mpitron::io

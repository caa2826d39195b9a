#include "io/tokens/token_file_parts.h"

#include <gtest/gtest.h>

#include "io/tokens/token_file_writer.h"
#include "support/corpus.h"
#include "utils/system/files.h"

namespace mpitron::io {
namespace token_file_parts_test {

class TokenFilePartsTest : public ::testing::Test {
 protected:
  static TokenBlock block(int from, int documents) {
    TokenBlock block(TokenType::u16);
    for (int d = from; d < from + documents; ++d) {
      const std::vector<std::int32_t> tokens{d, d + 1, d + 2};
      block.add_document(
          tokens, d % 3 == 0 ? std::vector<std::int32_t>{1, 2} : std::vector<std::int32_t>{3});
      block.add_document({}, {});
    }
    return block;
  }
  std::string bytes(const std::string& name) const {
    return read_file(folder_ / (name + ".bin")) + read_file(folder_ / (name + ".idx"));
  }
  std::string expected() const {
    TokenFileWriter writer(folder_ / "expected", TokenType::u16);
    writer.append(block(0, 5));
    writer.append(block(5, 9));
    writer.commit();
    return bytes("expected");
  }
  test::TemporaryFolder folder_;
};

TEST_F(TokenFilePartsTest, WritesTheWritersBytes) {
  TokenFileParts parts(folder_ / "a", TokenType::u16);
  parts.append(block(0, 5));
  parts.append(block(5, 9));
  EXPECT_EQ(parts.extent().documents, 28);
  EXPECT_EQ(parts.extent().tokens, 42);
  parts.commit();
  EXPECT_EQ(bytes("a"), expected());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.lengths.part"));
}

// A block of more than 64 KiB is written from where it lies, behind what waits in the buffer.
TEST_F(TokenFilePartsTest, LargeBlocksKeepTheirPlace) {
  TokenFileParts parts(folder_ / "a", TokenType::u16);
  TokenFileWriter writer(folder_ / "b", TokenType::u16);
  for (const TokenBlock& piece : {block(0, 5), block(5, 12000), block(12005, 3)}) {
    parts.append(piece);
    writer.append(piece);
  }
  parts.commit();
  writer.commit();
  EXPECT_EQ(bytes("a"), bytes("b"));
}

TEST_F(TokenFilePartsTest, GoesOnBehindASyncedExtent) {
  TokenExtent extent;
  {
    TokenFileParts parts(folder_ / "a", TokenType::u16);
    parts.append(block(0, 5));
    parts.sync();
    extent = parts.extent();
    parts.append(block(100, 50));  // never synced: lost
    parts.append(block(100, 50));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.idx"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.bin"));
  EXPECT_TRUE(TokenFileParts::exist(folder_ / "a", TokenType::u16, extent));
  EXPECT_FALSE(TokenFileParts::exist(folder_ / "b", TokenType::u16, {}));
  TokenFileParts parts(folder_ / "a", TokenType::u16, extent);
  parts.append(block(5, 9));
  parts.commit();
  EXPECT_EQ(bytes("a"), expected());
  EXPECT_NE(test::message_of([&] {
              TokenFileParts(folder_ / "a", TokenType::u16, extent);
            }).find("the journal says"),
            std::string::npos);
}

TEST_F(TokenFilePartsTest, JoinsPartsAndCorpora) {
  TokenFileParts parts(folder_ / "a", TokenType::u16);
  parts.append(block(0, 5));
  TokenFileParts second(folder_ / "b", TokenType::u16);
  second.append(block(5, 9));
  parts.append(second);
  second.commit();
  parts.commit();
  EXPECT_EQ(bytes("a"), expected());
  TokenFileParts merged(folder_ / "c", TokenType::u16);
  merged.append(TokenFile(folder_ / "a"));
  merged.append(TokenFile(folder_ / "b"));
  merged.commit();
  TokenFileWriter writer(folder_ / "expected", TokenType::u16);
  writer.append(TokenFile(folder_ / "a"));
  writer.append(TokenFile(folder_ / "b"));
  writer.commit();
  EXPECT_EQ(bytes("c"), bytes("expected"));
  TokenFileParts other(folder_ / "d", TokenType::i32);
  EXPECT_NE(test::message_of([&] { other.append(TokenFile(folder_ / "a")); }).find("one type"),
            std::string::npos);
  other.discard();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "d.bin.part"));
}

TEST_F(TokenFilePartsTest, WhatAKilledCommitLeftIsTakenAway) {
  test::write_bytes(folder_ / "a.idx.0123abcd.tmp", "half an index");
  test::write_bytes(folder_ / "ab.idx.0123abcd.tmp", "of another corpus");
  TokenFileParts parts(folder_ / "a", TokenType::u16);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.idx.0123abcd.tmp"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "ab.idx.0123abcd.tmp"));
  parts.discard();
}

}  // namespace token_file_parts_test
}  // namespace mpitron::io

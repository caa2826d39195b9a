#include "io/tokens/token_file.h"

#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "io/tokens/token_file_writer.h"
#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::io {
namespace token_file_test {

using test::dataset_corpora;
using test::message_of;
using test::TemporaryFolder;

std::vector<std::int64_t> sequence_of(const TokenFile& file, Index i) {
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(file.length(i)));
  file.read(i, 0, tokens);
  return tokens;
}

void write_small(const std::string& prefix) {
  TokenFileWriter writer(prefix, TokenType::u16);
  writer.add_document(std::vector<std::int32_t>{1, 2, 3, 4, 5}, std::vector<std::int32_t>{2, 3});
  writer.add_document(std::vector<std::int32_t>{6}, std::vector<std::int32_t>{1});
  writer.commit();
}

TEST(TokenFile, MappedAndReadAccessAgree) {
  for (const std::string& prefix : dataset_corpora()) {
    const TokenFile mapped(prefix);
    const TokenFile read(prefix, BinAccess::read);
    for (Index i = 0; i < mapped.sequence_count(); ++i) {
      EXPECT_EQ(sequence_of(mapped, i), sequence_of(read, i)) << prefix << ' ' << i;
    }
  }
}

TEST(TokenFile, ReadsPartsOfASequence) {
  const TemporaryFolder folder;
  write_small(folder / "x");
  const TokenFile file(folder / "x");
  std::vector<std::int64_t> two(2);
  file.read(1, 1, two);
  EXPECT_EQ(two, (std::vector<std::int64_t>{4, 5}));
  EXPECT_THROW(file.read(1, 2, two), Error);
  EXPECT_THROW(file.read(3, 0, two), Error);
  EXPECT_THROW(file.read(-1, 0, two), Error);
}

TEST(TokenFile, ChoosesTheTypeByVocabulary) {
  EXPECT_EQ(token_type_for(65499), TokenType::u16);
  EXPECT_EQ(token_type_for(65500), TokenType::i32);
}

TEST(TokenFile, NamesTheCorruptField) {
  const TemporaryFolder folder;
  write_small(folder / "x");
  const std::string original = read_file(folder / "x.idx");
  const auto corrupt = [&](std::size_t offset, std::uint64_t value, std::size_t size) {
    std::string bytes = original;
    bytes.replace(offset, size, reinterpret_cast<const char*>(&value), size);
    test::write_bytes(folder / "x.idx", bytes);
    return message_of([&] { TokenFile(folder / "x").verify(); });
  };
  EXPECT_NE(corrupt(0, 0, 1).find("magic"), std::string::npos);
  EXPECT_NE(corrupt(9, 2, 8).find("expected version 1, found 2"), std::string::npos);
  EXPECT_NE(corrupt(17, 9, 1).find("type code"), std::string::npos);
  EXPECT_NE(corrupt(18, std::uint64_t{1} << 63, 8).find("do not fit"), std::string::npos);
  EXPECT_NE(corrupt(26, 2, 8).find("2 document indices"), std::string::npos);
  EXPECT_NE(corrupt(34 + 4, 0x80000000u, 4).find("length"), std::string::npos);
  EXPECT_NE(corrupt(34 + 12, 1000, 8).find("x.bin has 12 bytes"), std::string::npos);
  EXPECT_NE(corrupt(34 + 36 + 8, 77, 8).find("document 1"), std::string::npos);
}

TEST(TokenFile, EveryTruncationIsAnError) {
  const TemporaryFolder folder;
  write_small(folder / "x");
  for (const char* name : {"x.idx", "x.bin"}) {
    write_small(folder / "x");
    for (auto size = std::filesystem::file_size(folder / name); size-- > 0;) {
      std::filesystem::resize_file(folder / name, size);
      EXPECT_NE(message_of([&] { TokenFile{folder / "x"}; }), "") << name << ' ' << size;
    }
  }
}

}  // namespace token_file_test
}  // namespace mpitron::io

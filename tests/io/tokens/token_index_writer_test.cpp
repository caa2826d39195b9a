#include "io/tokens/token_index_writer.h"

#include <array>

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::io {
namespace token_index_writer_test {

constexpr std::array<std::int32_t, 3> kLengths = {2, 0, 1};
constexpr std::array<std::int64_t, 3> kDocuments = {0, 1, 3};

TEST(TokenIndexWriter, WritesMegatronsIndexInPieces) {
  const test::TemporaryFolder folder;
  test::write_bytes(folder / "x.bin", std::string(3 * 2, 'a'));
  TokenIndexWriter index(folder / "x", TokenType::u16, 3, 2);
  index.add_lengths(std::span(kLengths).first(1));
  index.add_lengths(std::span(kLengths).last(2));
  index.add_pointers(std::span(kLengths).first(2));
  index.add_pointers(std::span(kLengths).last(1));
  index.add_documents(kDocuments);
  index.add_modes({});
  EXPECT_FALSE(std::filesystem::exists(folder / "x.idx"));
  index.commit([] {});
  const TokenFile corpus(folder / "x");
  corpus.verify();
  EXPECT_EQ(corpus.sequence_count(), 3);
  EXPECT_EQ(corpus.length(0), 2);
  EXPECT_EQ(corpus.byte_position(2), 4);
  EXPECT_EQ(corpus.document_count(), 2);
  EXPECT_EQ(corpus.document_begin(1), 1);
}

TEST(TokenIndexWriter, AnEarlierIndexNeverMeetsTheNewTokens) {
  const test::TemporaryFolder folder;
  test::write_bytes(folder / "x.idx", "earlier");
  TokenIndexWriter index(folder / "x", TokenType::u16, 0, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "x.idx"));
  index.commit([&] { EXPECT_FALSE(std::filesystem::exists(folder / "x.idx")); });
  EXPECT_TRUE(std::filesystem::exists(folder / "x.idx"));
}

}  // namespace token_index_writer_test
}  // namespace mpitron::io

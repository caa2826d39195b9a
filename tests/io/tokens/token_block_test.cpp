#include "io/tokens/token_block.h"

#include <cstring>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::io {
namespace token_block_test {

template <class T>
std::vector<T> values_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(TokenBlock, KeepsDocumentsSequencesAndTokens) {
  TokenBlock block(TokenType::i32);
  for (int round = 0; round < 2; ++round) {
    block.clear();
    block.add_document(std::vector<std::int32_t>{1, 2, 3}, std::vector<std::int32_t>{2, 1});
    block.add_document({}, {});
    block.add_document(std::vector<std::int32_t>{70000}, std::vector<std::int32_t>{1});
    EXPECT_EQ(values_of<std::int32_t>(block.bytes()), (std::vector<std::int32_t>{1, 2, 3, 70000}));
    EXPECT_EQ(
        std::vector<std::int32_t>(block.sequence_lengths().begin(), block.sequence_lengths().end()),
        (std::vector<std::int32_t>{2, 1, 1}));
    EXPECT_EQ(std::vector<std::int64_t>(block.document_ends().begin(), block.document_ends().end()),
              (std::vector<std::int64_t>{2, 2, 3}));
    EXPECT_EQ(block.token_count(), 4);
    EXPECT_EQ(block.empty_document_count(), 1);
  }
}

// Every count up to a few vectors, with the wrong token at every place.
TEST(TokenBlock, NarrowsExactlyOrRefuses) {
  for (std::size_t count = 1; count < 50; ++count) {
    std::vector<std::int32_t> tokens(count);
    std::iota(tokens.begin(), tokens.end(), 65535 - static_cast<int>(count) + 1);
    std::vector<std::byte> bytes(count * 2);
    narrow_tokens(TokenType::u16, tokens, bytes.data());
    const auto narrowed = values_of<std::uint16_t>(bytes);
    EXPECT_TRUE(std::equal(tokens.begin(), tokens.end(), narrowed.begin()));
    for (std::int32_t& token : tokens) {
      for (const std::int32_t wrong : {65536, -1, std::numeric_limits<std::int32_t>::min()}) {
        const std::int32_t right = std::exchange(token, wrong);
        EXPECT_NE(test::message_of([&] {
                    narrow_tokens(TokenType::u16, tokens, bytes.data());
                  }).find("do not fit the type"),
                  std::string::npos)
            << count << ' ' << wrong;
        token = right;
      }
    }
  }
}

TEST(TokenBlock, WideTokensIntoNarrowTypes) {
  std::vector<std::byte> bytes(8);
  const std::vector<std::int64_t> large{std::int64_t{1} << 40};
  EXPECT_THROW(narrow_tokens(TokenType::i32, large, bytes.data()), Error);
  EXPECT_THROW(narrow_tokens(TokenType::f32, large, bytes.data()), Error);
  narrow_tokens(TokenType::i64, large, bytes.data());
  EXPECT_EQ(values_of<std::int64_t>(bytes), large);
}

}  // namespace token_block_test
}  // namespace mpitron::io

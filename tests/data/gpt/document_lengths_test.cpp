#include "data/gpt/document_lengths.h"

#include <gtest/gtest.h>

namespace mpitron::data {
namespace document_lengths_test {

TEST(DocumentLengths, ComeInTheOrderOfTheDocuments) {
  std::vector<std::int32_t> lengths(1000);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = static_cast<std::int32_t>(7 * i);
  }
  const io::PackedArray<std::int32_t> packed(std::as_bytes(std::span(lengths)).data(),
                                             std::ssize(lengths));
  std::vector<std::int32_t> documents;
  for (std::int32_t i = 0; i < 200'000; ++i) {
    documents.push_back((i * 379) % 1000);
  }
  std::size_t seen = 0;
  for_lengths(packed, std::span<const std::int32_t>(documents), [&](std::size_t d, Index length) {
    ASSERT_EQ(d, seen++);
    ASSERT_EQ(length, 7 * documents[d]);
  });
  EXPECT_EQ(seen, documents.size());
}

}  // namespace document_lengths_test
}  // namespace mpitron::data

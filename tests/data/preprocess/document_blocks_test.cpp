#include "data/preprocess/document_blocks.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace document_blocks_test {

std::size_t behind_last_comma(std::string_view block, std::size_t searched) {
  const std::size_t at = block.substr(searched).rfind(',');
  return at == std::string_view::npos ? 0 : searched + at + 1;
}

TEST(DocumentBlocks, EndAtADocument) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "x";
  test::write_bytes(file, "ab,cd,efghij,k");
  DocumentBlocks blocks(file, 0, {});
  std::string block;
  std::vector<std::string> found;
  while (const std::size_t bytes = blocks.next(block, 4, behind_last_comma, 1)) {
    found.push_back(block.substr(0, bytes));
  }
  ASSERT_GE(found.size(), 2u);
  std::string all;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(i + 1 == found.size() || found[i].ends_with(',')) << found[i];
    all += found[i];
  }
  EXPECT_EQ(all, "ab,cd,efghij,k");
}

TEST(DocumentBlocks, BeginAtAnOffset) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "x";
  test::write_bytes(file, "ab,cd,");
  DocumentBlocks blocks(file, 3, {});
  std::string block;
  const std::size_t bytes = blocks.next(block, 100, behind_last_comma, 1);
  EXPECT_EQ(block.substr(0, bytes), "cd,");
}

}  // namespace document_blocks_test
}  // namespace mpitron::data

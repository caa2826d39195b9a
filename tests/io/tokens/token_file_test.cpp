#include "io/tokens/token_file.h"

#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "io/tokens/small_token_file.h"
#include "io/tokens/token_file_writer.h"
#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::io {
namespace token_file_test {

using test::dataset_corpora;
using test::TemporaryFolder;

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

}  // namespace token_file_test

}  // namespace mpitron::io

#include "tokenizers/split/word_counts.h"

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace word_counts_test {

using Counts = std::vector<std::pair<std::string, Index>>;

TEST(WordCounts, CountsPieces) {
  WordCounts counts;
  counts.add_text("to be or not to be");
  EXPECT_EQ(counts.sorted(), (Counts{{" be", 2}, {" not", 1}, {" or", 1}, {" to", 1}, {"to", 1}}));
}

}  // namespace word_counts_test
}  // namespace mpitron::tokenizers

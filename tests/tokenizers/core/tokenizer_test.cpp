#include "tokenizers/core/tokenizer.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::tokenizers {
namespace tokenizer_test {

TEST(Tokenizer, ChecksIdsAndLengths) {
  check_token_id(0, 1);
  EXPECT_THROW(check_token_id(1, 1), Error);
  EXPECT_THROW(check_token_id(-1, 1), Error);
  check_piece_length(std::size_t{16} << 20);
  EXPECT_THROW(check_piece_length((std::size_t{16} << 20) + 1), Error);
}

}  // namespace tokenizer_test
}  // namespace mpitron::tokenizers

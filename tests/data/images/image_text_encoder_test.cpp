#include "data/images/image_text_encoder.h"

#include <gtest/gtest.h>

#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::data {
namespace image_text_encoder_test {

TEST(ImageTextEncoder, TurnsEndWithTheDocumentsEnd) {
  const tokenizers::NullTokenizer tokenizer(9);
  const auto encode = make_image_text_encoder(tokenizer);
  const MarkedTokens tokens = encode({{"user", "<image>1 2<image>"}, {"assistant", "3"}});
  EXPECT_EQ(tokens.ids,
            (std::vector<std::int64_t>{-200, 1, 2, -200, tokenizer.eod(), 3, tokenizer.eod()}));
  EXPECT_EQ(tokens.learned, (std::vector<float>{0, 0, 0, 0, 0, 1, 1}));
}

}  // namespace image_text_encoder_test
}  // namespace mpitron::data

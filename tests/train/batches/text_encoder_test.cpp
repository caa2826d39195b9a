#include "train/batches/text_encoder.h"

#include <thread>

#include <gtest/gtest.h>

#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::train {
namespace text_encoder_test {

TEST(TextEncoder, SeveralThreadsShareIt) {
  const tokenizers::NullTokenizer tokenizer(100);
  const EncodeText encode = make_text_encoder(tokenizer);
  std::vector<std::vector<std::int64_t>> ids(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    threads.emplace_back([&, i] { ids[i] = encode("1 22 " + std::to_string(i)); });
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    threads[i].join();
    EXPECT_EQ(ids[i], (std::vector<std::int64_t>{1, 22, static_cast<std::int64_t>(i)}));
  }
}

}  // namespace text_encoder_test
}  // namespace mpitron::train

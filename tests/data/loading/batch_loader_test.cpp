#include "data/loading/batch_loader.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::data {
namespace batch_loader_test {

/// Sample i holds the tokens 100 i, 100 i + 1, ...
class Counting final : public Dataset {
 public:
  explicit Counting(Index size, Index broken = -1) : size_(size), broken_(broken) {}
  Index size() const override { return size_; }
  void read(Index sample, std::span<std::int64_t> tokens) const override {
    if (sample == broken_) {
      throw_data("sample {} cannot be read", sample);
    }
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      tokens[i] = 100 * sample + static_cast<std::int64_t>(i);
    }
  }
  const std::string& description() const override { return description_; }

 private:
  Index size_;
  Index broken_;
  std::string description_ = "counting";
};

BatchLoaderOptions options_for(Index rank, Index ranks, Index prefetch) {
  BatchLoaderOptions options;
  options.sample.seq_length = 4;
  options.sample.create_attention_mask = true;
  options.sampler.micro_batch_size = 2;
  options.sampler.data_parallel_rank = rank;
  options.sampler.data_parallel_size = ranks;
  options.prefetch = prefetch;
  return options;
}

TEST(BatchLoader, EveryRankGetsItsRows) {
  const auto dataset = std::make_shared<Counting>(12);
  for (const Index prefetch : {0, 1, 3}) {
    for (Index rank = 0; rank < 3; ++rank) {
      BatchLoader loader(dataset, options_for(rank, 3, prefetch));
      for (Index step = 0; step < 2; ++step) {
        const Batch* batch = loader.next();
        ASSERT_NE(batch, nullptr);
        for (std::size_t row = 0; row < 2; ++row) {
          const Index sample = step * 6 + rank * 2 + static_cast<Index>(row);
          EXPECT_EQ(batch->samples[row], sample);
          for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(batch->tokens[row * 4 + i], 100 * sample + static_cast<Index>(i));
            EXPECT_EQ(batch->labels[row * 4 + i], 100 * sample + static_cast<Index>(i) + 1);
            EXPECT_EQ(batch->position_ids[row * 4 + i], static_cast<Index>(i));
            EXPECT_EQ(batch->attention_mask[row * 16 + i], i == 0 ? 0 : 1);
          }
        }
      }
      EXPECT_EQ(loader.next(), nullptr);
    }
  }
}

TEST(BatchLoader, TheLastBatchIsPaddedWithoutLoss) {
  const auto dataset = std::make_shared<Counting>(5);
  for (Index rank = 0; rank < 2; ++rank) {
    BatchLoaderOptions options = options_for(rank, 2, 2);
    options.sampler.drop_last = false;
    BatchLoader loader(dataset, options);
    ASSERT_NE(loader.next(), nullptr);
    const Batch* last = loader.next();
    ASSERT_NE(last, nullptr);  // both ranks take part
    EXPECT_EQ(last->samples, (std::vector<Index>{rank == 0 ? 4 : -1, -1}));
    EXPECT_EQ(last->loss_mask[0], rank == 0 ? 1.0f : 0.0f);
    EXPECT_EQ(last->loss_mask[4], 0.0f);
    EXPECT_EQ(loader.next(), nullptr);
  }
}

TEST(BatchLoader, ReadingErrorsReachTheCaller) {
  BatchLoader loader(std::make_shared<Counting>(8, 2), options_for(0, 1, 2));
  EXPECT_NE(loader.next(), nullptr);
  EXPECT_THROW(loader.next(), Error);
}

TEST(BatchLoader, BuffersAreReused) {
  BatchLoader loader(std::make_shared<Counting>(2000), options_for(0, 1, 2));
  std::vector<const std::int64_t*> seen;
  for (int i = 0; i < 900; ++i) {
    const Batch* batch = loader.next();
    if (std::find(seen.begin(), seen.end(), batch->tokens.data()) == seen.end()) {
      seen.push_back(batch->tokens.data());
    }
  }
  EXPECT_LE(seen.size(), 3u);
}

}  // namespace batch_loader_test
}  // namespace mpitron::data

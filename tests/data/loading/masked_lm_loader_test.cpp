#include "data/loading/masked_lm_loader.h"

#include <gtest/gtest.h>

namespace mpitron::data {
namespace masked_lm_loader_test {

using enum MaskedLmColumn;

/// Sample n is the numbers n 1000, n 1000 + 1, ...
class CountedRows final : public Dataset {
 public:
  Index size() const override { return 10; }
  void read(Index sample, std::span<std::int64_t> row) const override {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = sample * 1000 + static_cast<std::int64_t>(i);
    }
  }
  const std::string& description() const override { return description_; }

 private:
  std::string description_ = "rows";
};

TEST(MaskedLmLoader, SortsRowsIntoColumns) {
  const MaskedLmLayout layout{.length = 3, .decoder_length = 2};
  for (const Index prefetch : {0, 2}) {
    MaskedLmLoader loader(std::make_shared<CountedRows>(), layout,
                          {.consumed_samples = 4,
                           .micro_batch_size = 2,
                           .data_parallel_rank = 1,
                           .data_parallel_size = 2},
                          prefetch);
    const MaskedLmBatch* batch = loader.next();  // samples 6 and 7
    ASSERT_NE(batch, nullptr);
    const auto column = [&](MaskedLmColumn which) {
      const auto values = (*batch)[which];
      return std::vector<std::int64_t>(values.begin(), values.end());
    };
    using Numbers = std::vector<std::int64_t>;
    EXPECT_EQ(column(tokens), (Numbers{6000, 6001, 6002, 7000, 7001, 7002}));
    EXPECT_EQ(column(padding_mask), (Numbers{6003, 6004, 6005, 7003, 7004, 7005}));
    EXPECT_EQ(column(labels), (Numbers{6006, 6007, 7006, 7007}));
    EXPECT_EQ(batch->loss_mask, (std::vector<float>{6008, 6009, 7008, 7009}));
    EXPECT_EQ(column(decoder_tokens), (Numbers{6010, 6011, 7010, 7011}));
    EXPECT_EQ(column(decoder_padding_mask), (Numbers{6012, 6013, 7012, 7013}));
    EXPECT_TRUE(column(token_types).empty() && column(sentence_order).empty());
    EXPECT_EQ(loader.next(), nullptr);  // 8 and 9 are another rank's, and too few for both
  }
}

}  // namespace masked_lm_loader_test
}  // namespace mpitron::data

#include "data/loading/labelled_loader.h"

#include <gtest/gtest.h>

namespace mpitron::data {
namespace labelled_loader_test {

std::shared_ptr<const LabelledDataset> numbered(Index samples) {
  std::vector<LabelledText> texts;
  for (Index i = 0; i < samples; ++i) {
    texts.push_back({.pairs = {{.first = "x"}}, .label = static_cast<double>(i), .id = i});
  }
  return std::make_shared<const LabelledDataset>(
      "numbers", texts, LabelledDataset::Options{.length = 4, .encode = [](std::string_view) {
                                                   return std::vector<std::int64_t>{7};
                                                 }});
}

TEST(LabelledLoader, EveryEpochHasEverySampleOnce) {
  LabelledLoader loader(numbered(6),
                        {.kind = SamplerKind::epochs, .micro_batch_size = 2, .seed = 3}, 0);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<std::int64_t> labels;
    for (int batch = 0; batch < 3; ++batch) {
      const LabelledBatch& own = *loader.next();
      EXPECT_EQ(own.tokens.size(), 8U);
      labels.insert(labels.end(), own.labels.begin(), own.labels.end());
    }
    std::sort(labels.begin(), labels.end());
    EXPECT_EQ(labels, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  }
}

TEST(LabelledLoader, RowsBehindTheEndHaveNoWeight) {
  LabelledLoader loader(numbered(3),
                        {.micro_batch_size = 2, .drop_last = false, .padded_samples = 4}, 0);
  EXPECT_EQ(loader.next()->weights, (std::vector<float>{1, 1}));
  const LabelledBatch& last = *loader.next();
  EXPECT_EQ(last.weights, (std::vector<float>{1, 0}));
  EXPECT_EQ(last.labels[0], 2);
  EXPECT_EQ(loader.next(), nullptr);
}

}  // namespace labelled_loader_test
}  // namespace mpitron::data

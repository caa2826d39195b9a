#include "train/batches/sample_source.h"

#include <gtest/gtest.h>

#include "train/batches/training_data.h"
#include "train/tiny_run.h"

namespace mpitron::train {
namespace sample_source_test {

TEST(SampleSource, EveryFamilysSamplesAreFoundAndRead) {
  for (const config::ModelFamily& family : config::model_families()) {
    const SampleRow& row = row_of(family.samples);
    EXPECT_EQ(row.kind, family.samples);
    EXPECT_TRUE(row.sets != nullptr && row.source != nullptr) << family.name;
  }
}

TEST(SampleSource, TextsEndWithTheirData) {
  const config::RunConfig config = tiny_run();
  const TrainingData data = make_training_data(config);
  const auto source = row_of(config::SampleKind::texts)
                          .source({.dataset = data.sets.train,
                                   .config = config,
                                   .data = data,
                                   .sampler = {.consumed_samples = data.sets.train->size() - 2,
                                               .micro_batch_size = 2}});
  const auto last = source->next();
  ASSERT_TRUE(last);
  EXPECT_EQ((*last)[models::kTokens].size(), 16u);
  EXPECT_FALSE(source->next());
}

}  // namespace sample_source_test
}  // namespace mpitron::train

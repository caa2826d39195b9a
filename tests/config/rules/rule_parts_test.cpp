#include "config/rules/rule_parts.h"

#include <gtest/gtest.h>

namespace mpitron::config {
namespace rule_parts_test {

TEST(RuleParts, NamesWhatIsGiven) {
  OptionValues values;
  const OptionIndex& index = option_index();
  values.set(index.slot_of_dest("train_iters"), {"5"}, {Origin::Source::command_line, ""});
  values.set(index.slot_of_dest("lr_warmup_iters"), {"0"}, {Origin::Source::command_line, ""});
  EXPECT_EQ(first_given(values, {"lr_decay_iters", "train_iters"}), "--train-iters");
  EXPECT_EQ(first_given(values, {"lr_decay_iters"}), "");
  EXPECT_EQ(given_among(values, {"train_iters", "lr_warmup_iters"}), "--train-iters");
}

TEST(RuleParts, JoinsViolations) {
  EXPECT_FALSE(given_violation("").has_value());
  EXPECT_EQ(given_violation("--a").value().values, "--a given");
  EXPECT_FALSE(joined({}, {"x"}).has_value());
  EXPECT_EQ(joined({"a", "b"}, {"c", "d"}).value().values, "a; b");
  EXPECT_EQ(joined({"a", "b"}, {"c", "d"}).value().nearest, "c | d");
}

TEST(RuleParts, TellsStagesApart) {
  ParallelConfig parallel;
  EXPECT_EQ(chunks_per_rank(parallel), 1);
  EXPECT_FALSE(has_uneven_stages(parallel));
  EXPECT_FALSE(counts_ends_as_layers(parallel));
  parallel.virtual_pipeline_model_parallel_size = 3;
  parallel.decoder_last_pipeline_num_layers = 1;
  parallel.account_for_loss_in_pipeline_split = true;
  EXPECT_EQ(chunks_per_rank(parallel), 3);
  EXPECT_TRUE(has_uneven_stages(parallel));
  EXPECT_TRUE(counts_ends_as_layers(parallel));
}

TEST(RuleParts, AnEmptyRangeOfLayersFreezesNone) {
  ModelConfig model;
  EXPECT_FALSE(freezes(model));
  model.frozen.embeddings = true;
  EXPECT_TRUE(freezes(model));
}

}  // namespace rule_parts_test
}  // namespace mpitron::config

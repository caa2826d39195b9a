#include "plan/published/validation.h"

#include <gtest/gtest.h>

#include "plan/planned_run.h"
#include "plan/published/refit.h"

namespace mpitron::plan {
namespace validation_test {

TEST(Validation, ErrorsAreSummarizedByClass) {
  PublishedRow measured;
  measured.seconds = 1;
  Validation validation;
  for (int i = 0; i <= 10; ++i) {
    validation.rows.push_back({.row = &measured,
                               .group = "a",
                               .published = 1,
                               .predicted = 1 + 0.01 * i * (i % 2 == 0 ? 1 : -1)});
  }
  const std::vector<ErrorSummary> summary = summarize(validation);
  ASSERT_EQ(summary.size(), 1U);
  EXPECT_EQ(summary[0].rows, 11U);
  EXPECT_NEAR(summary[0].median, 0.05, 1e-12);
  EXPECT_NEAR(summary[0].ninth_decile, 0.09, 1e-12);
  EXPECT_NEAR(summary[0].largest, 0.10, 1e-12);
}

TEST(Validation, ClassesFollowModelMachineAndSharding) {
  const Library library;
  const Machine machine = *library.machine("h100-dgx");
  PublishedRow row;
  config::ParallelConfig& p = row.run.parallel;
  p.pipeline_model_parallel_size = 8;
  p.sharding_strategy = config::ShardingStrategy::optim_grads;
  EXPECT_EQ(validation_class(row, machine), "tensor and pipeline");
  p.sharding_strategy = config::ShardingStrategy::optim_grads_params;
  EXPECT_EQ(validation_class(row, machine), "fully sharded");
  EXPECT_EQ(validation_class(row, *library.machine("dgx-b200")), "dense, Blackwell");
  row.run.model.moe.emplace();
  EXPECT_EQ(validation_class(row, machine), "mixture of experts");
}

TEST(Validation, RowsThatCannotBeAreToldAndLeaveTheOthers) {
  PublishedRow row;
  row.id = "r1";
  row.hardware = "h100-dgx";
  row.seconds = 1;
  row.micro_batch = row.chunks = 1;
  row.run =
      test::planned_run({.layers = 4, .hidden = 64, .heads = 4}, 64, 4, {.gpus = 2, .pipeline = 2});
  PublishedRow broken = row;
  broken.run.parallel.pipeline_model_parallel_layout = "Et|L";
  const std::vector<PublishedRow> rows = {broken, row};
  const Validation validation = validate(Library(), rows);
  EXPECT_EQ(validation.rows.size(), 1U);
  ASSERT_EQ(validation.refused.size(), 1U);
  EXPECT_NE(validation.refused[0].second.find("Et|L"), std::string::npos);
  const Validation unseen = cross_validate(Library(), rows, HeldOut::sources, 1);
  EXPECT_EQ(unseen.rows.size(), 1U);
  EXPECT_EQ(unseen.refused.size(), 1U);
}

/// A row in a precision that its GPU does not have would be told as no number at all.
TEST(Validation, APrecisionThatTheHardwareLacksIsToldAndNotFitted) {
  PublishedRow row;
  row.id = "r1";
  row.hardware = "a100-dgx";
  row.seconds = 1;
  row.micro_batch = row.chunks = 1;
  row.practice.precision = Precision::fp8;
  row.run =
      test::planned_run({.layers = 4, .hidden = 64, .heads = 4}, 64, 4, {.gpus = 2, .tensor = 2});
  row.run.model.fp8.emplace();
  const std::vector<PublishedRow> rows = {row};
  const Validation validation = validate(Library(), rows);
  ASSERT_EQ(validation.refused.size(), 1U);
  EXPECT_NE(validation.refused[0].second.find("fp8"), std::string::npos);
  Library library;
  EXPECT_EQ(refit(library, rows).rows, 0U);
}

TEST(Validation, RowsWithoutLayoutAreSearchedIfTheyTellTheModel) {
  PublishedRow row;
  row.source = "Megatron-LM README (2025)";
  row.model = "gpt-1.7b-h100";
  row.hardware = "h100-dgx";
  row.layout_known = false;
  row.unit = FigureUnit::tera_of_gpu;
  row.value = 409;
  row.formula = FlopsFormula::megatron;
  row.run.model.seq_length = 4096;
  row.run.model.padded_vocab_size = 131072;
  row.run.parallel.world_size = 48;
  PublishedRow nameless = row;
  nameless.model = "gpt-x";
  const std::vector<PublishedRow> rows = {row, nameless};
  Validation validation = validate(Library(), rows);
  EXPECT_EQ(validation.without_layout.size(), 2U);
  search_layouts(Library(), validation);
  EXPECT_EQ(validation.without_layout.size(), 1U);
  ASSERT_EQ(validation.rows.size(), 1U);
  EXPECT_LT(std::abs(validation.rows[0].error()), 0.12);
  EXPECT_NE(validation.rows[0].layout, "");
}

}  // namespace validation_test
}  // namespace mpitron::plan

#include "plan/published/refit.h"

#include <gtest/gtest.h>

#include "plan/published/prediction.h"

namespace mpitron::plan {
namespace refit_test {

PublishedRow row(Index hidden, Index sequence) {
  PublishedRow row;
  row.source = "somebody";
  row.hardware = "dgx-a100-80-ib8x200";
  row.micro_batch = 1;
  row.chunks = 1;
  row.recompute = Recompute::none;
  row.job = {.model = {.layers = 24,
                       .hidden = hidden,
                       .ffn = 4 * hidden,
                       .heads = hidden / 128,
                       .kv_heads = hidden / 128,
                       .head_dim = 128,
                       .vocab = 51200},
             .layout = {.gpus = 8, .tensor = 8, .sequence_parallel = true},
             .sequence = sequence,
             .global_batch = 16};
  return row;
}

TEST(Refit, FindsTheValuesThatRowsWereMadeWith) {
  const auto library = [](double products, double elementwise) {
    Library result;
    result.machines = ParameterFiles({});
    result.stacks = ParameterFiles({});
    const Library shipped;
    ParameterFile machine = *shipped.machines.find("a100-dgx");
    for (const auto& [key, value] : machine.fitted) {
      machine.values[key] = std::to_string(value);
    }
    machine.fitted.clear();
    result.machines.add(machine);
    result.stacks.add({.name = "s",
                       .path = "s.yaml",
                       .aliases = {"somebody"},
                       .fitted = {{"products", products}, {"elementwise", elementwise}}});
    return result;
  };
  const Library truth = library(1.4, 2.5);
  std::vector<PublishedRow> rows;
  for (const Index hidden : {2048, 4096, 8192, 12288}) {
    for (const Index sequence : {1024, 4096}) {
      rows.push_back(row(hidden, sequence));
      rows.back().seconds =
          predict(*truth.machine(rows.back().hardware), *truth.stack("somebody"), rows.back())
              .time.seconds();
    }
  }
  Library fitted = library(1.0, 1.0);
  const FitResult result = refit(fitted, rows, 40);
  EXPECT_EQ(result.parameters, 2U);
  EXPECT_LT(result.loss_after, 0.1 * result.loss_before);
  EXPECT_NEAR(fitted.stack("s")->products, 1.4, 0.05);
  EXPECT_NEAR(fitted.stack("s")->elementwise, 2.5, 0.25);
}

}  // namespace refit_test
}  // namespace mpitron::plan

#include "plan/search/report.h"

#include <gtest/gtest.h>

#include "plan/machine/library.h"

namespace mpitron::plan {
namespace report_test {

Candidate candidate(double seconds) {
  Candidate c;
  c.job = {.model = {.layers = 1,
                     .hidden = 8,
                     .ffn = 32,
                     .heads = 1,
                     .kv_heads = 1,
                     .head_dim = 8,
                     .vocab = 16},
           .layout = {.gpus = 4},
           .sequence = 1000,
           .global_batch = 36};
  c.time.work.products = 0.75 * seconds;
  c.time.bubble = 0.25 * seconds;
  return c;
}

TEST(PlanReport, RatesFollowFromTheStep) {
  Machine machine;
  machine.peak_16 = 1e12;
  machine.power_idle = 100;
  machine.power_max = 500;
  const Prices prices{.gpu_hour = 2.0, .kilowatt_hour = 0.1, .tokens = 36e6};
  const Rates r = rates(machine, candidate(3.6), FlopsFormula::six_n, prices);
  EXPECT_DOUBLE_EQ(r.tokens_per_second, 10000);
  EXPECT_DOUBLE_EQ(r.bubble, 0.25);
  EXPECT_DOUBLE_EQ(r.days, 1.0 / 24);                               // 3,600 s
  EXPECT_NEAR(r.megawatt_hours, 4 * 400 * 1.2 / 1e6, 1e-12);        // 100 + 0.75 x 400 W
  EXPECT_NEAR(*r.cost, 4 * 2.0 + 4 * 400 * 1.2 / 1e3 * 0.1, 1e-9);  // hours and kilowatt hours
  EXPECT_FALSE(rates(machine, candidate(3.6), FlopsFormula::six_n, {}).cost);
}

TEST(PlanReport, PartsAddUpToTheStep) {
  const Library library;
  Job job = candidate(1).job;
  job.layout = {.gpus = 8,
                .tensor = 2,
                .pipeline = 1,
                .context = 2,
                .sequence_parallel = true,
                .sharding = Sharding::optimizer};
  const StepTime step = step_time({*library.machine("h100-dgx"), *library.stack("megatron"), job});
  double sum = 0;
  for (const NamedSeconds& part : parts_of(step)) {
    EXPECT_GE(part.seconds, 0) << part.name;
    sum += part.seconds;
  }
  EXPECT_NEAR(sum, step.seconds(), 1e-12);
}

TEST(PlanReport, DifferenceNamesTheLargestPartsFirst) {
  StepTime fast = candidate(1).time, slow = fast;
  slow.bubble += 0.2;
  slow.data += 0.05;
  slow.work.tensor += 0.1;
  EXPECT_EQ(difference(fast, slow),
            "20.00 % more bubble, 10.00 % more exposed tensor traffic, 5.00 % more exposed data "
            "traffic");
}

TEST(PlanReport, SoftwareWithoutRowsIsUncertain) {
  const Library library;
  const Machine machine = *library.machine("h100-dgx");
  const Job job = candidate(1).job;
  EXPECT_EQ(error_bar(machine, *library.stack("mpitron"), job).share, 0.25);
  EXPECT_EQ(error_bar(machine, *library.stack("nemo"), job).share, 0.1);
}

}  // namespace report_test
}  // namespace mpitron::plan

#include "plan/search/report.h"

#include <gtest/gtest.h>

#include "plan/machine/library.h"
#include "plan/planned_run.h"

namespace mpitron::plan {
namespace report_test {

Job job_with(const Layout& layout) {
  return make_job(test::planned_run({.layers = 1, .hidden = 8, .heads = 1, .vocabulary = 16}, 1000,
                                    36, layout));
}

StepTime step(double seconds) {
  StepTime time;
  time.work.products = 0.75 * seconds;
  time.bubble = 0.25 * seconds;
  return time;
}

TEST(PlanReport, RatesFollowFromTheStep) {
  Machine machine;
  machine.peak_16 = 1e12;
  machine.power_idle = 100;
  machine.power_max = 500;
  const Prices prices{.gpu_hour = 2.0, .kilowatt_hour = 0.1, .tokens = 36e6};
  const Job job = job_with({.gpus = 4});
  const Rates r = rates(machine, job, step(3.6), FlopsFormula::six_n, prices);
  EXPECT_DOUBLE_EQ(r.tokens_per_second, 10000);
  EXPECT_DOUBLE_EQ(r.bubble, 0.25);
  EXPECT_DOUBLE_EQ(r.days, 1.0 / 24);                               // 3,600 s
  EXPECT_NEAR(r.megawatt_hours, 4 * 400 * 1.2 / 1e6, 1e-12);        // 100 + 0.75 x 400 W
  EXPECT_NEAR(*r.cost, 4 * 2.0 + 4 * 400 * 1.2 / 1e3 * 0.1, 1e-9);  // hours and kilowatt hours
  EXPECT_FALSE(rates(machine, job, step(3.6), FlopsFormula::six_n, {}).cost);
}

TEST(PlanReport, PartsAddUpToTheStep) {
  const Library library;
  const Job job = job_with({.gpus = 8, .tensor = 2, .context = 2});
  const StepTime time = step_time({*library.machine("h100-dgx"), *library.stack("megatron"), job});
  double sum = 0;
  for (const NamedSeconds& part : parts_of(time)) {
    EXPECT_GE(part.seconds, 0) << part.name;
    sum += part.seconds;
  }
  EXPECT_NEAR(sum, time.seconds(), 1e-12);
}

TEST(PlanReport, DifferenceNamesTheLargestPartsFirst) {
  const StepTime fast = step(1);
  StepTime slow = fast;
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
  const Job job = job_with({.gpus = 4});
  EXPECT_EQ(error_bar(machine, *library.stack("mpitron"), job).share, 0.25);
  EXPECT_EQ(error_bar(machine, *library.stack("nemo"), job).share, 0.1);
}

}  // namespace report_test
}  // namespace mpitron::plan

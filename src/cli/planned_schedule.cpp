#include "cli/planned_schedule.h"

#include "utils/check.h"

namespace mpitron::cli {

PlannedSchedule plan_schedule(const config::RunConfig& run) {
  const config::TrainingConfig& training = run.training;
  const Index microbatches =
      training.global_batch_size / training.micro_batch_size / run.parallel.data_parallel_size;
  PlannedSchedule plan{.layout = pipeline::make_stage_layout(run.parallel, run.model.all_layers(),
                                                             run.model.mtp_num_layers.value_or(0)),
                       .schedule = {},
                       .simulation = {}};
  plan.schedule = pipeline::make_schedule(
      pipeline::make_schedule_options(run.parallel, plan.layout, microbatches));
  plan.simulation = pipeline::simulate(plan.schedule);
  MPITRON_CHECK(plan.simulation.problem.empty(), plan.simulation.problem);
  return plan;
}

}  // namespace mpitron::cli

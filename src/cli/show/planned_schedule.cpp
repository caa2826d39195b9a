#include "cli/show/planned_schedule.h"

#include "config/global_batch_size.h"
#include "utils/check.h"

namespace mpitron::cli {

PlannedSchedule plan_schedule(const config::RunConfig& run) {
  const Index microbatches =
      config::num_microbatches(run.training, run.parallel.data_parallel_size);
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

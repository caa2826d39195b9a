#include "cli/show/run_layout.h"

#include <fmt/format.h>

#include "config/global_batch_size.h"
#include "nn/layers/layer_rows.h"
#include "nn/layers/transformer_layer.h"
#include "train/model/flops.h"
#include "utils/check.h"

// What a run's options make of its pipeline and layers, by the functions that the run itself calls,
// so that `plan` and `config show --layers` cannot tell anything else.

namespace mpitron::cli {

/// Simulates the schedule with forward passes of one unit of time and backward passes of two.
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

namespace {

/// Counts the parameters of a layer that is made without values, as one rank would hold it.
Index parameters_of(const config::ModelConfig& model, Index number) {
  const comm::ParallelGroups groups = comm::groups_of_one(*comm::make_single_world());
  autograd::ParameterList parameters;
  const nn::TransformerLayer layer(nn::Builder({model, groups, parameters}), number);
  Index count = 0;
  for (const autograd::Parameter& parameter : parameters) {
    count += parameter.shape.numel();
  }
  return count;
}

}  // namespace

std::vector<LayerRow> layer_table(const config::RunConfig& run) {
  const auto layout = pipeline::make_stage_layout(run.parallel, run.model.all_layers());
  std::vector<LayerRow> rows;
  for (Index number = 1; number <= run.model.all_layers(); ++number) {
    const config::LayerSpec spec = config::layer_spec(run.model, number);
    rows.push_back(
        {.number = number,
         .spec = spec,
         .place = layout.owner(number - 1),
         .parameters = parameters_of(run.model, number),
         .flops = train::layer_flops_per_iteration(run.model, spec, run.training.global_batch_size),
         .state = nn::layer_costs(run.model, spec).state});
  }
  return rows;
}

std::string layer_table_text(std::span<const LayerRow> rows) {
  std::string text = fmt::format("{:>5}  {:<16}  {:<12}  {:>5}  {:>5}  {:>13}  {:>20}  {:>18}",
                                 "layer", "attention", "feed forward", "stage", "chunk",
                                 "parameters", "GFLOP per iteration", "state per sequence");
  for (const LayerRow& row : rows) {
    text += fmt::format("\n{:>5}  {:<16}  {:<12}  {:>5}  {:>5}  {:>13}  {:>20.3f}  {:>18}",
                        row.number, row.spec.mixer_name(),
                        config::facts(row.spec.feed_forward).name, row.place.stage, row.place.chunk,
                        row.parameters, row.flops * 1e-9, static_cast<Index>(row.state));
  }
  return text;
}

}  // namespace mpitron::cli

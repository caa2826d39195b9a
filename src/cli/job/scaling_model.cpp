#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/job/scaling_study.h"
#include "cli/show/plan_commands.h"
#include "plan/calibration/calibration.h"
#include "plan/model/flops_formula.h"
#include "plan/published/prediction.h"
#include "plan/search/report.h"
#include "utils/error.h"

// Figures that a scaling study compares its runs with: the model of `mpitron plan` and published
// steps.

namespace mpitron::cli {

/// A machine file of `doctor --calibrate` has measured parts, whose replay gives the step; any
/// other machine has rates, from which plan::step_time estimates it.
void add_model(const ScalingModel& model, const config::RunConfig& run,
               report::PointOutlook& outlook) {
  if (model.machine.empty()) {
    return;
  }
  plan::Library library;
  const plan::Machine machine = find_machine(library, model.machine);
  const plan::Job job = plan::make_job(run);
  const auto set_seconds = [&](double seconds) {
    outlook.model_seconds = seconds;
    outlook.model_tokens_per_second = job.global_batch() * job.sequence() / seconds;
    outlook.model_tflops =
        plan::step_flops(job, plan::FlopsFormula::megatron) / (seconds * job.ranks() * 1e12);
  };
  if (machine.measured != nullptr) {
    const plan::PlayedJob step = plan::measured_step(*machine.measured, job.run);
    const double busy = step.busy / outlook.core_share, waiting = step.seconds - step.busy;
    set_seconds(busy + waiting);
    outlook.model_parts = fmt::format("own work {:.4f} s, waiting {:.4f} s", busy, waiting);
    return;
  }
  const plan::StepTime time = plan::step_time({machine, find_stack(library, model.stack), job});
  set_seconds(time.seconds());
  std::vector<plan::NamedSeconds> parts = plan::parts_of(time);
  std::ranges::sort(parts, std::greater{}, &plan::NamedSeconds::seconds);
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < kShown; ++i) {
    outlook.model_parts += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", parts[i].name,
                                       100 * parts[i].seconds / time.seconds());
  }
}

/// Returns a line for each source, of models about as large as the points'. Rows whose layout their
/// source does not tell are left out: their FLOP/s could not be compared.
std::vector<report::PlotLine> published_lines(const ScalingModel& model,
                                              const std::vector<config::RunConfig>& points) {
  std::map<std::string, report::PlotLine> lines;
  if (model.published.empty() || points.empty()) {
    return {};
  }
  double least = plan::make_job(points.front()).weights(), most = least;
  for (const config::RunConfig& point : points) {
    const double weights = plan::make_job(point).weights();
    least = std::min(least, weights);
    most = std::max(most, weights);
  }
  const plan::Library library;
  for (const plan::PublishedRow& row : plan::read_published_table(model.published)) {
    const auto machine = library.machine(row.hardware);
    if (!row.layout_known || !machine) {
      continue;
    }
    const plan::Job job = plan::make_job(row.run, row.practice);
    if (job.weights() < least / 2 || job.weights() > 2 * most) {
      continue;
    }
    report::PlotLine& line = lines[row.source];
    line.name = row.source;
    line.elsewhere = true;
    line.joined = false;
    line.points.emplace_back(job.ranks(),
                             plan::step_flops(job, plan::FlopsFormula::megatron) /
                                 (plan::measured_seconds(row, *machine) * job.ranks() * 1e12));
  }
  std::vector<report::PlotLine> result;
  for (auto& [source, line] : lines) {
    std::ranges::sort(line.points);
    result.push_back(std::move(line));
  }
  return result;
}

}  // namespace mpitron::cli

// Compares measured steps with a plan's. Only steps in a row outside of the band count, since
// single ones are slowed by saves, other jobs and the system.
#include "train/log/plan_drift.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::train {

PlannedStep read_planned_step(const std::filesystem::path& path) {
  try {
    const auto layout = nlohmann::json::parse(read_file(path)).at("layouts").at(0);
    PlannedStep plan{.seconds = layout.at("step_s").get<double>(),
                     .error = layout.at("error_bar").get<double>()};
    for (const auto& [name, seconds] : layout.at("breakdown").items()) {
      const bool waits =
          name.starts_with("exposed") || name == "bubble" || name == "pipeline messages";
      plan.waiting += waits ? seconds.get<double>() : 0;
    }
    return plan;
  } catch (const nlohmann::json::exception& error) {
    throw_usage("--plan-file {}: not what mpitron plan --machine NAME --json writes: {}",
                path.string(), error.what());
  }
}

std::optional<std::string> PlanDrift::operator()(const StepTime& step) {
  const double off = step.seconds / plan_.seconds - 1;
  if (std::abs(off) <= plan_.error) {
    outside_ = 0;
    sum_ = {};
    return std::nullopt;
  }
  sum_.seconds += step.seconds;
  sum_.waited += step.waited;
  if (++outside_ < kSteps || told_) {
    return std::nullopt;
  }
  told_ = true;
  const double seconds = sum_.seconds / outside_, waited = sum_.waited / outside_;
  const double more_waiting = waited - plan_.waiting;
  const double more_work = (seconds - waited) - (plan_.seconds - plan_.waiting);
  const bool waits = std::abs(more_waiting) > std::abs(more_work);
  return fmt::format(
      "{} steps took {:.3f} s each where the plan has {:.3f} ({:+.0f} %, its band is {:.0f} %): "
      "{} is {:.3f} s, planned {:.3f}",
      outside_, seconds, plan_.seconds, 100 * (seconds / plan_.seconds - 1), 100 * plan_.error,
      waits ? "waiting for other ranks" : "the ranks' own work", waits ? waited : seconds - waited,
      waits ? plan_.waiting : plan_.seconds - plan_.waiting);
}

}  // namespace mpitron::train

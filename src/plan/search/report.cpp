#include "plan/search/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plan/machine/parameter_table.h"

// Figures of a predicted step as users ask for them: rates, energy, cost, the reasons of a
// difference, and how far to trust them.

namespace mpitron::plan {
namespace {

constexpr double kFacility = 1.2;  // power of a building over that of its machines

/// Returns the share of a step in which processors work.
double busy_share(const StepTime& time) {
  return time.work.compute() / time.seconds();
}

}  // namespace

Rates rates(const Machine& machine, const Job& job, const StepTime& time, FlopsFormula formula,
            const Prices& prices) {
  const double seconds = time.seconds(), gpus = job.ranks();
  Rates result;
  result.tokens_per_second = job.global_batch() * job.sequence() / seconds;
  result.utilization = step_flops(job, formula) / (seconds * gpus * machine.peak_16);
  result.bubble = time.bubble / seconds;
  const double hours = prices.tokens / result.tokens_per_second / 3600;
  const double watts =
      machine.power_idle + (machine.power_max - machine.power_idle) * busy_share(time);
  result.megawatt_hours = watts * kFacility * gpus * hours / 1e6;
  result.days = hours / 24;
  if (prices.gpu_hour) {
    result.cost = gpus * hours * *prices.gpu_hour +
                  1000 * result.megawatt_hours * prices.kilowatt_hour.value_or(0);
  }
  return result;
}

std::vector<NamedSeconds> parts_of(const StepTime& time) {
  return {{"products", time.work.products},
          {"attention", time.work.attention},
          {"elementwise kernels", time.work.elementwise},
          {"launches", time.work.launch},
          {"exposed tensor traffic", time.work.tensor},
          {"exposed context traffic", time.work.context},
          {"exposed expert traffic", time.work.expert},
          {"exposed sharding traffic", time.work.sharding},
          {"pipeline messages", time.sends},
          {"bubble", time.bubble},
          {"exposed data traffic", time.data},
          {"optimizer", time.optimizer},
          {"per step", time.fixed + time.jitter}};
}

std::string difference(const StepTime& faster, const StepTime& slower) {
  std::vector<NamedSeconds> parts = parts_of(slower);
  const std::vector<NamedSeconds> first = parts_of(faster);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].seconds -= first[i].seconds;
  }
  std::ranges::sort(parts, std::greater{},
                    [](const NamedSeconds& part) { return std::abs(part.seconds); });
  std::string text;
  for (std::size_t i = 0; i < 3; ++i) {
    text += fmt::format("{}{:.2f} % {} {}", i == 0 ? "" : ", ",
                        100 * std::abs(parts[i].seconds) / faster.seconds(),
                        parts[i].seconds >= 0 ? "more" : "less", parts[i].name);
  }
  return text;
}

/// Predicts the step again with each value 10 % higher; values without an effect are left out.
std::vector<Sensitivity> sensitivities(const Machine& machine, const Stack& stack, const Job& job) {
  const double before = step_time({machine, stack, job}).seconds();
  std::vector<Sensitivity> result;
  for (const ParameterKey<Machine>& key : machine_keys()) {
    Machine better = machine;
    better.*key.field *= 1.1;
    const double change = step_time({better, stack, job}).seconds() / before - 1;
    if (std::abs(change) > 1e-4) {
      result.push_back({key.key, change});
    }
  }
  std::ranges::sort(result, std::greater{},
                    [](const Sensitivity& s) { return std::abs(s.change); });
  return result;
}

ErrorBar error_bar(const Machine& machine, const Stack& stack, const Job& job) {
  // Widths come from `mpitron plan --validate` (docs/how-to/plan-a-large-run.md).
  if (stack.name == "megatron" || stack.name == "mpitron") {
    return {0.25, "no run of this software is calibrated; --stack names one that is"};
  }
  const bool sharded = job.sharded_by_layer() && job.stages() == 1;
  if (job.run.model.moe) {
    return {0.35, "mixtures of experts"};
  }
  if (machine.peak_16 > 1.5e15) {
    return {0.15, "dense models on Blackwell"};
  }
  if (sharded && stack.name != "llm-foundry" && stack.name != "torchtitan") {
    return {0.25, "this software has no calibrated row that is fully sharded"};
  }
  return sharded ? ErrorBar{0.13, "fully sharded"} : ErrorBar{0.1, "tensor and pipeline"};
}

}  // namespace mpitron::plan

#include <algorithm>

#include "cli/show/plan_request.h"
#include "plan/replay/rank_replay.h"
#include "plan/search/startup.h"
#include "utils/log.h"

// Text and JSON of predicted layouts: a line of figures for each, and for one layout the parts of
// its step, memory, cost, sensitivities, failures and start.

namespace mpitron::cli {
namespace {

std::string memory_text(const PlanRequest& request, const plan::Candidate& candidate) {
  const plan::RankMemory& m = candidate.memory;
  return fmt::format(
      "memory of the fullest rank (stage {}): {:.1f} GB = weights {:.1f}, gradients {:.1f}, "
      "optimizer {:.1f}, activations {:.1f}, logits {:.1f}, fixed {:.1f}; {:.1f} GB free",
      candidate.fullest_stage, (m.total() + request.machine.fixed_memory) / kGigabyte,
      m.weights / kGigabyte, m.gradients / kGigabyte, m.optimizer / kGigabyte,
      m.activations / kGigabyte, m.logits / kGigabyte, request.machine.fixed_memory / kGigabyte,
      (request.machine.memory - m.total() - request.machine.fixed_memory) / kGigabyte);
}

/// Prints how often to save and how long a run takes, where the user says how often a GPU fails.
/// The mean time between failures of a job is that of a GPU over its GPUs.
void print_failures(const PlanRequest& request, const plan::Job& job, const plan::StepTime& time) {
  if (!request.gpu_failure_hours) {
    return;
  }
  plan::FailureModel model = request.failures;
  model.between_failures = 3600 * *request.gpu_failure_hours / job.ranks();
  const double interval = plan::best_interval(model);
  const double steps = request.prices.tokens / (job.global_batch() * job.sequence());
  const plan::RunForecast run = plan::forecast(model, interval, steps * time.seconds());
  log::print(fmt::format(
      "a failure every {:.1f} h: --save-interval {:.0f} ({:.0f} s; by Young {:.0f}), of "
      "the time {:.1f} % trains; {:.3g} tokens take {:.1f} days ({:.1f} to {:.1f} in 90 "
      "of 100 runs) and {:.0f} restarts",
      model.between_failures / 3600, std::max(1.0, interval / time.seconds()), interval,
      plan::young_interval(model), 100 * plan::goodput(model, interval), request.prices.tokens,
      run.days, run.days_low, run.days_high, run.restarts));
}

void print_startup(const PlanRequest& request, const plan::Job& job) {
  if (!request.shows_startup) {
    return;
  }
  double sum = 0;
  log::print("the start:");
  for (const plan::StartupPhase& phase : plan::startup_phases(request.machine, job)) {
    log::print(fmt::format("  {:26} {:8.1f} s  {}", phase.name, phase.seconds, phase.what));
    sum += phase.seconds;
  }
  log::print(fmt::format("  {:26} {:8.1f} s", "together", sum));
}

/// Prints the program's own memory, replayed on one rank of each stage.
void print_replay(const PlanRequest& request, const plan::Job& job) {
  if (!request.replays) {
    return;
  }
  const Index ranks = job.run.parallel.world_size;
  const Index stages = job.run.parallel.pipeline_model_parallel_size;
  log::print("tensors at the peak, by the program itself:");
  for (Index stage = 0; stage < stages; ++stage) {
    const plan::RankReplay replay = plan::replay_rank(job.run, stage * (ranks / stages));
    const plan::ReplayedMemory& m = replay.memory;
    log::print(fmt::format(
        "  stage {:3} {:7.2f} GB = parameters {:.2f}, gradients {:.2f}, optimizer {:.2f}, "
        "activations and scratch {:.2f}; peak in {}",
        stage, static_cast<double>(m.peak) / kGigabyte,
        static_cast<double>(m.parameters) / kGigabyte, static_cast<double>(m.gradients) / kGigabyte,
        static_cast<double>(m.optimizer) / kGigabyte,
        static_cast<double>(m.activations()) / kGigabyte, replay.peak_kernel));
  }
}

plan::Rates rates_of(const PlanRequest& request, const plan::Job& job, const plan::Candidate& c) {
  return plan::rates(request.machine, job, c.time, request.formula, request.prices);
}

}  // namespace

/// Leaves out parts below a ten-thousandth of the step.
void print_details(const PlanRequest& request, const PlannedLayout& layout) {
  const auto& [candidate, job] = layout;
  const plan::StepTime& time = candidate.time;
  log::print(memory_text(request, candidate));
  log::print("the step:");
  for (const plan::NamedSeconds& part : plan::parts_of(time)) {
    if (part.seconds > 1e-4 * time.seconds()) {
      log::print(fmt::format("  {:26} {:9.4f} s {:5.1f} %", part.name, part.seconds,
                             100 * part.seconds / time.seconds()));
    }
  }
  log::print("10 % more of these changes the step most:");
  const auto all = plan::sensitivities(request.machine, request.stack, job);
  for (std::size_t i = 0; i < std::min<std::size_t>(5, all.size()); ++i) {
    log::print(fmt::format("  {:26} {:+5.1f} %", all[i].key, 100 * all[i].change));
  }
  const plan::ErrorBar bar = plan::error_bar(request.machine, request.stack, job);
  log::print(
      fmt::format("9 of 10 such predictions are within {:.0f} % ({})", 100 * bar.share, bar.why));
  print_failures(request, job, time);
  print_startup(request, job);
  print_replay(request, job);
}

std::string layout_line(const PlanRequest& request, const PlannedLayout& layout,
                        std::size_t number) {
  const auto& [c, job] = layout;
  const plan::Layout& l = c.layout;
  const plan::Rates rates = rates_of(request, job, c);
  std::string text = fmt::format(
      "{:3} {:2} {:2} {:2} {:2} {:2} {:3} {:4} {:18} {:>20} {:8.3f} s {:5.1f} {:13.0f} {:10.1f} "
      "{:5.1f} % {:6.1f} {:5.0f}",
      number, l.tensor, l.context, l.pipeline, l.chunks, l.expert, l.micro_batch, l.data(),
      plan::to_string(l.sharding), plan::to_text(c.recompute), c.time.seconds(),
      100 * rates.utilization, rates.tokens_per_second / static_cast<double>(l.gpus),
      (c.memory.total() + request.machine.fixed_memory) / kGigabyte, 100 * rates.bubble, rates.days,
      rates.megawatt_hours);
  return rates.cost ? text + fmt::format("  cost {:.4g}", *rates.cost) : text;
}

std::string layouts_json(const PlanRequest& request, const std::vector<PlannedLayout>& layouts) {
  std::string text = fmt::format(R"({{"machine": "{}", "stack": "{}", "layouts": [)",
                                 request.machine.name, request.stack.name);
  const char* separator = "";
  for (const auto& [c, job] : layouts) {
    const plan::Layout& l = c.layout;
    const plan::Rates rates = rates_of(request, job, c);
    const plan::ErrorBar bar = plan::error_bar(request.machine, request.stack, job);
    text += fmt::format(
        "{}\n  {{\"tensor\": {}, \"context\": {}, \"pipeline\": {}, \"chunks\": {}, \"expert\": "
        "{}, \"micro_batch\": {}, \"data\": {}, \"sharding\": \"{}\", \"recompute\": \"{}\", "
        "\"step_s\": {:.6g}, \"mfu\": {:.5g}, \"tokens_per_second\": {:.6g}, \"memory_bytes\": "
        "{:.0f}, \"bubble\": {:.5g}, \"megawatt_hours\": {:.5g}, \"error_bar\": {:.3g}, "
        "\"breakdown\": {{",
        separator, l.tensor, l.context, l.pipeline, l.chunks, l.expert, l.micro_batch, l.data(),
        plan::to_string(l.sharding), plan::to_text(c.recompute), c.time.seconds(),
        rates.utilization, rates.tokens_per_second, c.memory.total() + request.machine.fixed_memory,
        rates.bubble, rates.megawatt_hours, bar.share);
    separator = "";
    for (const plan::NamedSeconds& part : plan::parts_of(c.time)) {
      text += fmt::format(R"({}"{}": {:.6g})", separator, part.name, part.seconds);
      separator = ", ";
    }
    text += "}}";
    separator = ",";
  }
  return text + "]}";
}

}  // namespace mpitron::cli

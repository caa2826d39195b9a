#include <algorithm>

#include "cli/show/plan_commands.h"
#include "cli/show/plan_request.h"
#include "config/parse/parse.h"
#include "plan/calibration/calibration.h"
#include "plan/machine/exit_codes.h"
#include "plan/search/layout_flags.h"
#include "utils/log.h"
#include "utils/system/files.h"

// `mpitron plan --machine`: predicted step, memory and cost of one layout, or a search over all
// layouts that divide the model. Layouts are ranked by predicted time; each that is shown has
// passed the rules of `mpitron check` as a run with these options. Exit code kFitsNowhere where no
// layout fits.

namespace mpitron::cli {
namespace {

using plan::Candidate;

/// Takes model, batch and GPUs from the options; their layout is what the search decides. Rules are
/// checked here only where sizes are missing: others may be met by a better layout.
plan::SearchSpace search_space(const PlanRequest& request) {
  const config::ParsedRun given = config::parse_run(request.flags);
  const config::RunConfig& run = given.run;
  if (run.model.num_layers == 0 || run.model.hidden_size == 0 ||
      run.training.global_batch_size == 0) {
    config::checked(given);
  }
  return {.job = plan::make_job(run), .fixed = request.fixed};
}

/// Returns what `check` says of the run in this layout; an empty list if it may start.
std::vector<config::Finding> findings_of(const PlanRequest& request, const plan::Job& job) {
  return config::parse_run(plan::with_layout(request.flags, job.run)).findings;
}

/// Throws by how much nothing fits, and what would help: half the sequence, or a power of two times
/// the GPUs.
[[noreturn]] void refuse(const PlanRequest& request, plan::SearchSpace space,
                         const plan::SearchResult& result) {
  if (!result.smallest) {
    throw Error(
        plan::kFitsNowhere,
        fmt::format("no layout divides {} layers, {} heads, a batch of {} and {} GPUs",
                    space.job.run.model.all_layers(), space.job.run.model.num_attention_heads,
                    space.job.global_batch(), space.job.ranks()));
  }
  const double missing = result.smallest->memory.total() - usable_memory(request);
  std::string help;
  plan::SearchSpace shorter = space;
  shorter.job.run.model.seq_length /= 2;
  if (!plan::search(request.machine, request.stack, shorter, usable_memory(request))
           .fitting.empty()) {
    help += fmt::format("; --seq-length {} fits", shorter.job.sequence());
  }
  for (Index factor = 2; factor <= 64 && help.find("GPUs") == std::string::npos; factor *= 2) {
    plan::SearchSpace more = space;
    more.job.run.parallel.world_size *= factor;
    if (!plan::search(request.machine, request.stack, more, usable_memory(request))
             .fitting.empty()) {
      help += fmt::format("; {} GPUs fit", more.job.ranks());
    }
  }
  throw Error(plan::kFitsNowhere,
              fmt::format("no layout fits on {} {}: the smallest ({}) misses {:.1f} GB of {:.1f}{}",
                          space.job.ranks(), request.machine.name,
                          plan::to_text(plan::job_of(space, *result.smallest).run),
                          missing / kGigabyte, usable_memory(request) / kGigabyte, help));
}

/// Returns the fastest layouts that break no rule of `check`, at most --top.
std::vector<PlannedLayout> legal(const PlanRequest& request, const plan::SearchSpace& space,
                                 const plan::SearchResult& result) {
  std::vector<PlannedLayout> kept;
  for (const Candidate& candidate : result.fitting) {
    if (std::ssize(kept) == request.top) {
      break;
    }
    plan::Job job = plan::job_of(space, candidate);
    if (findings_of(request, job).empty()) {
      kept.push_back({candidate, std::move(job)});
    }
  }
  return kept;
}

void print_search(const PlanRequest& request, const plan::SearchResult& result,
                  const std::vector<PlannedLayout>& best) {
  log::print(fmt::format("{} layouts, {} fit; FLOPs by the formula {}; software: {}",
                         result.considered, result.fitting.size(), to_string(request.formula),
                         request.stack.name));
  log::print(kLayoutColumns);
  for (std::size_t i = 0; i < best.size(); ++i) {
    log::print(layout_line(request, best[i], i + 1));
    if (i == 1) {
      log::print("    slower by " +
                 plan::difference(best[0].candidate.time, best[1].candidate.time));
    }
  }
  const auto& [first, job] = best[0];
  const double bar = plan::error_bar(request.machine, request.stack, job).share;
  const auto ties = std::ranges::count_if(best, [&, &first = first](const PlannedLayout& shown) {
    return shown.candidate.time.seconds() < first.time.seconds() * (1 + bar);
  });
  log::print(fmt::format("the first {} are within the error of the model: measure them", ties));
  print_details(request, best[0]);
}

/// Answers --why: shows the best layout with these sizes, or says why there is none.
void explain(const PlanRequest& request, plan::SearchSpace space) {
  space.fixed = layout_choices("--why", *request.why);
  const plan::SearchResult result =
      plan::search(request.machine, request.stack, space, usable_memory(request));
  if (result.considered == 0) {
    log::print("no layout with these sizes divides layers, heads, batch and GPUs");
  } else if (result.fitting.empty()) {
    log::print(fmt::format("the smallest of {} such layouts ({}) misses {:.1f} GB",
                           result.considered,
                           plan::to_text(plan::job_of(space, *result.smallest).run),
                           (result.smallest->memory.total() - usable_memory(request)) / kGigabyte));
  } else {
    const Candidate& best = result.fitting.front();
    const plan::Job job = plan::job_of(space, best);
    for (const config::Finding& finding : findings_of(request, job)) {
      log::print(config::to_text({finding}));
    }
    log::print(kLayoutColumns);
    log::print(layout_line(request, {best, job}, 1));
  }
}

int search(const PlanRequest& request) {
  const plan::SearchSpace space = search_space(request);
  if (request.why) {
    explain(request, space);
    return static_cast<int>(ExitCode::success);
  }
  const plan::SearchResult result =
      plan::search(request.machine, request.stack, space, usable_memory(request));
  const std::vector<PlannedLayout> best = legal(request, space, result);
  if (best.empty() && !result.fitting.empty()) {  // the run itself is wrong: say how
    const plan::Job job = plan::job_of(space, result.fitting[0]);
    config::checked(config::parse_run(plan::with_layout(request.flags, job.run)));
  }
  if (best.empty()) {
    refuse(request, space, result);
  }
  if (request.json) {
    log::print(layouts_json(request, best));
  } else {
    print_search(request, result, best);
  }
  if (request.save_flags) {
    AtomicFile file(*request.save_flags);
    file.write(plan::to_yaml(plan::with_layout(request.flags, best[0].job.run)));
    file.commit();
  }
  return static_cast<int>(ExitCode::success);
}

constexpr double kMeasuredError = 0.1;  // of steps that are replayed with measured kernels

/// Predicts on a machine whose kernels were measured, by a replay of the program.
int measured_layout(const PlanRequest& request, const plan::Job& job) {
  const plan::PlayedJob step = plan::measured_step(*request.machine.measured, job.run);
  const double tokens = job.global_batch() * job.sequence() / step.seconds;
  if (request.json) {
    log::print(fmt::format(
        R"({{"machine": "{}", "layouts": [{{"step_s": {:.6g}, "tokens_per_second": {:.6g}, )"
        R"("error_bar": {:.3g}, "breakdown": {{"own work": {:.6g}, "exposed waits": {:.6g}}}}}]}})",
        request.machine.name, step.seconds, tokens, kMeasuredError, step.busy,
        step.seconds - step.busy));
  } else {
    log::print(fmt::format(
        "{}: step {:.4f} s, {:.0f} tokens/s; the busiest rank computes {:.4f} s of it and waits "
        "{:.1f} % (the program replayed with the kernels' times as measured)",
        plan::to_text(job.run), step.seconds, tokens, step.busy,
        100 * (1 - step.busy / step.seconds)));
  }
  return static_cast<int>(ExitCode::success);
}

int one_layout(const PlanRequest& request) {
  const plan::Job job = plan::make_job(config::parse_valid_run(request.flags).run);
  if (request.machine.measured != nullptr) {
    return measured_layout(request, job);
  }
  const std::vector<plan::RankMemory> stages = plan::stage_memory(job);
  const auto fullest = std::ranges::max_element(stages, {}, &plan::RankMemory::total);
  const Candidate candidate{.layout = plan::layout_of(job.run),
                            .recompute = job.run.model,
                            .memory = *fullest,
                            .fullest_stage = std::distance(stages.begin(), fullest),
                            .time = plan::step_time({request.machine, request.stack, job})};
  if (request.json) {
    log::print(layouts_json(request, {{candidate, job}}));
  } else {
    log::print(kLayoutColumns);
    log::print(layout_line(request, {candidate, job}, 1));
    print_details(request, {candidate, job});
  }
  const double over = candidate.memory.total() - usable_memory(request);
  if (over > 0) {
    throw Error(plan::kFitsNowhere,
                fmt::format("stage {} misses {:.1f} GB; --search finds layouts that fit",
                            candidate.fullest_stage, over / kGigabyte));
  }
  return static_cast<int>(ExitCode::success);
}

}  // namespace

int plan_machine(const Arguments& arguments) {
  const PlanRequest request = read_plan_request(arguments);
  return request.searches || request.why ? search(request) : one_layout(request);
}

}  // namespace mpitron::cli

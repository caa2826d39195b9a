#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>

#include "cli/show/plan_commands.h"
#include "config/parse/parse.h"
#include "plan/calibration/calibration.h"
#include "plan/machine/exit_codes.h"
#include "plan/machine/library.h"
#include "plan/model/job.h"
#include "plan/replay/rank_replay.h"
#include "plan/search/goodput.h"
#include "plan/search/layout_flags.h"
#include "plan/search/report.h"
#include "plan/search/startup.h"
#include "utils/system/files.h"

namespace mpitron::cli {
namespace {

using plan::Candidate;

constexpr double kGigabyte = 1e9;

/// The command's own options; what is left describes the run.
struct Request {
  Arguments flags;
  plan::Machine machine;
  plan::Stack stack;
  bool searches = false, json = false, shows_startup = false, replays = false;
  Index top = 10;
  double margin = 0.06;
  std::map<std::string, Index> fixed;  // --fix
  std::optional<std::string> why, save_flags;
  plan::FlopsFormula formula = plan::FlopsFormula::megatron;
  plan::Prices prices;
  std::optional<double> gpu_failure_hours;
  plan::FailureModel failures{.checkpoint = 60, .restart = 600};
};

std::map<std::string, Index> layout_choices(const std::string& option, const std::string& text) {
  std::map<std::string, Index> result;
  for (const auto& [name, value] : assignments(option, text)) {
    constexpr std::array<std::string_view, 7> kNames = {"tp", "cp", "pp", "vp", "ep", "etp", "mbs"};
    if (std::ranges::find(kNames, name) == kNames.end() || value < 1) {
      throw_usage("plan: {} {}: one of {} is expected, of at least 1", option, name,
                  fmt::join(kNames, ", "));
    }
    result[name] = static_cast<Index>(value);
  }
  return result;
}

/// --what-if KEY=FACTOR: values of the machine and the software times a factor.
void change_parts(Request& request, const std::string& text) {
  for (const auto& [name, factor] : assignments("--what-if", text)) {
    if (!multiply_value(request.machine, request.stack, name, factor)) {
      throw_usage("plan: --what-if {}: no value of machine and stack files has this name", name);
    }
  }
}

Request read_request(const Arguments& arguments) {
  Request request{.flags = arguments};
  plan::Library library;
  request.machine = find_machine(library, *take_value(request.flags, "--machine"));
  request.stack = find_stack(library, take_value(request.flags, "--stack").value_or("mpitron"));
  request.searches = take_flag(request.flags, "--search");
  request.json = take_flag(request.flags, "--json");
  request.shows_startup = take_flag(request.flags, "--start-up");
  request.replays = take_flag(request.flags, "--replay");
  const auto take_number = [&](const char* option, auto store) {
    if (const auto text = take_value(request.flags, option)) {
      store(number(option, *text));
    }
  };
  take_number("--top", [&](double value) { request.top = static_cast<Index>(value); });
  take_number("--memory-margin", [&](double value) { request.margin = value / 100; });
  take_number("--price-per-gpu-hour", [&](double value) { request.prices.gpu_hour = value; });
  take_number("--power-price", [&](double value) { request.prices.kilowatt_hour = value; });
  take_number("--tokens", [&](double value) { request.prices.tokens = value; });
  take_number("--gpu-mtbf-hours", [&](double value) { request.gpu_failure_hours = value; });
  take_number("--checkpoint-seconds", [&](double value) { request.failures.checkpoint = value; });
  take_number("--restart-seconds", [&](double value) { request.failures.restart = value; });
  take_number("--durable-seconds", [&](double value) { request.failures.durable = value; });
  take_number("--gpus", [&](double value) {
    request.flags.insert(request.flags.end(),
                         {"--world-size", std::to_string(static_cast<Index>(value))});
  });
  if (const auto text = take_value(request.flags, "--fix")) {
    request.fixed = layout_choices("--fix", *text);
  }
  if (const auto text = take_value(request.flags, "--what-if")) {
    change_parts(request, *text);
  }
  if (const auto text = take_value(request.flags, "--flops-formula")) {
    request.formula = plan::flops_formula(*text);
  }
  request.why = take_value(request.flags, "--why");
  request.save_flags = take_value(request.flags, "--save-flags");
  return request;
}

double usable_memory(const Request& request) {
  return request.machine.memory * (1 - request.margin) - request.machine.fixed_memory;
}

/// Model, batch and GPUs of the options; their layout is what the search decides.
plan::SearchSpace search_space(const Request& request) {
  const config::ParsedRun given = config::parse_run(request.flags);
  const config::RunConfig& run = given.run;
  if (run.model.num_layers == 0 || run.model.hidden_size == 0 ||
      run.training.global_batch_size == 0) {
    config::checked(given);
  }
  return {.job = plan::make_job(run), .fixed = request.fixed};
}

/// What `check` says of the run in this layout; empty if it may start.
std::vector<config::Finding> findings_of(const Request& request, const plan::Job& job) {
  return config::parse_run(plan::with_layout(request.flags, job.run)).findings;
}

std::string memory_text(const Request& request, const Candidate& candidate) {
  const plan::RankMemory& m = candidate.memory;
  return fmt::format(
      "memory of the fullest rank (stage {}): {:.1f} GB = weights {:.1f}, gradients {:.1f}, "
      "optimizer {:.1f}, activations {:.1f}, logits {:.1f}, fixed {:.1f}; {:.1f} GB free",
      candidate.fullest_stage, (m.total() + request.machine.fixed_memory) / kGigabyte,
      m.weights / kGigabyte, m.gradients / kGigabyte, m.optimizer / kGigabyte,
      m.activations / kGigabyte, m.logits / kGigabyte, request.machine.fixed_memory / kGigabyte,
      (request.machine.memory - m.total() - request.machine.fixed_memory) / kGigabyte);
}

/// Where the user says how often a GPU fails: how often to save, and how long a run takes then.
void print_failures(const Request& request, const plan::Job& job, const plan::StepTime& time) {
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

void print_startup(const Request& request, const plan::Job& job) {
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

/// The program's own memory on one rank of each stage.
void print_replay(const Request& request, const plan::Job& job) {
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

void print_details(const Request& request, const plan::Job& job, const Candidate& candidate) {
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

constexpr const char* kColumns =
    "    tp cp pp vp ep mbs   dp sharding                      recompute      step   MFU  "
    "tokens/s/GPU  memory GB  "
    "bubble   days  MWh";

plan::Rates rates_of(const Request& request, const plan::Job& job, const Candidate& c) {
  return plan::rates(request.machine, job, c.time, request.formula, request.prices);
}

std::string line(const Request& request, const plan::Job& job, const Candidate& c,
                 std::size_t number) {
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

/// A layout with the run in it.
struct Shown {
  Candidate candidate;
  plan::Job job;
};

std::string to_json(const Request& request, const std::vector<Shown>& layouts) {
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

/// By how much nothing fits, and what would help.
[[noreturn]] void refuse(const Request& request, plan::SearchSpace space,
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

/// The fastest that break no rule of `check`.
std::vector<Shown> legal(const Request& request, const plan::SearchSpace& space,
                         const plan::SearchResult& result) {
  std::vector<Shown> kept;
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

void print_search(const Request& request, const plan::SearchResult& result,
                  const std::vector<Shown>& best) {
  log::print(fmt::format("{} layouts, {} fit; FLOPs by the formula {}; software: {}",
                         result.considered, result.fitting.size(), to_string(request.formula),
                         request.stack.name));
  log::print(kColumns);
  for (std::size_t i = 0; i < best.size(); ++i) {
    log::print(line(request, best[i].job, best[i].candidate, i + 1));
    if (i == 1) {
      log::print("    slower by " +
                 plan::difference(best[0].candidate.time, best[1].candidate.time));
    }
  }
  const auto& [first, job] = best[0];
  const double bar = plan::error_bar(request.machine, request.stack, job).share;
  const auto ties = std::ranges::count_if(best, [&, &first = first](const Shown& shown) {
    return shown.candidate.time.seconds() < first.time.seconds() * (1 + bar);
  });
  log::print(fmt::format("the first {} are within the error of the model: measure them", ties));
  print_details(request, job, first);
}

/// --why: the layouts with these sizes, or why there are none.
void explain(const Request& request, plan::SearchSpace space) {
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
    log::print(kColumns);
    log::print(line(request, job, best, 1));
  }
}

int search(const Request& request) {
  const plan::SearchSpace space = search_space(request);
  if (request.why) {
    explain(request, space);
    return static_cast<int>(ExitCode::success);
  }
  const plan::SearchResult result =
      plan::search(request.machine, request.stack, space, usable_memory(request));
  const std::vector<Shown> best = legal(request, space, result);
  if (best.empty() && !result.fitting.empty()) {  // the run itself is wrong: say how
    const plan::Job job = plan::job_of(space, result.fitting[0]);
    config::checked(config::parse_run(plan::with_layout(request.flags, job.run)));
  }
  if (best.empty()) {
    refuse(request, space, result);
  }
  if (request.json) {
    log::print(to_json(request, best));
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

/// Of a machine whose kernels are measured: the program itself, replayed.
int measured_layout(const Request& request, const plan::Job& job) {
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

int one_layout(const Request& request) {
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
    log::print(to_json(request, {{candidate, job}}));
  } else {
    log::print(kColumns);
    log::print(line(request, job, candidate, 1));
    print_details(request, job, candidate);
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
  const Request request = read_request(arguments);
  return request.searches || request.why ? search(request) : one_layout(request);
}

}  // namespace mpitron::cli

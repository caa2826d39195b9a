#include "cli/show/plan_machine.h"

#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>

#include "config/parse/parse.h"
#include "plan/machine/exit_codes.h"
#include "plan/machine/library.h"
#include "plan/model/planned_job.h"
#include "plan/search/goodput.h"
#include "plan/search/layout_flags.h"
#include "plan/search/report.h"
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
  bool searches = false, json = false;
  Index top = 10;
  double margin = 0.06;
  std::map<std::string, Index> fixed;  // --fix
  std::optional<std::string> why, save_flags;
  plan::FlopsFormula formula = plan::FlopsFormula::megatron;
  plan::Prices prices;
  std::optional<double> gpu_failure_hours;
  plan::FailureModel failures{.checkpoint = 60, .restart = 600};
};

double number(const std::string& option, const std::string& text) {
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc{} || end.ptr != text.data() + text.size()) {
    throw_usage("plan: {} {}: a number is expected", option, text);
  }
  return value;
}

/// "tp=4,pp=8" or "network.share=0.5".
std::map<std::string, double> assignments(const std::string& option, const std::string& text) {
  std::map<std::string, double> result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string one = text.substr(at, end - at);
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos) {
      throw_usage("plan: {} {}: NAME=VALUE is expected, several with commas", option, text);
    }
    result[one.substr(0, equals)] = number(option, one.substr(equals + 1));
    at = end + 1;
  }
  return result;
}

std::map<std::string, Index> layout_choices(const std::string& option, const std::string& text) {
  std::map<std::string, Index> result;
  for (const auto& [name, value] : assignments(option, text)) {
    constexpr std::array<std::string_view, 6> kNames = {"tp", "cp", "pp", "vp", "ep", "mbs"};
    if (std::ranges::find(kNames, name) == kNames.end() || value < 1) {
      throw_usage("plan: {} {}: one of {} is expected, of at least 1", option, name,
                  fmt::join(kNames, ", "));
    }
    result[name] = static_cast<Index>(value);
  }
  return result;
}

plan::Machine find_machine(plan::Library& library, const std::string& name) {
  if (name.ends_with(".yaml") || name.ends_with(".yml")) {
    plan::ParameterFile file = plan::parse_parameter_file(read_file(name), name);
    const std::string key = file.name;
    library.machines.add(std::move(file));
    return *library.machine(key);
  }
  const auto machine = library.machine(name);
  if (!machine) {
    throw_usage("plan: --machine {}: not known; a .yaml file or one of {}", name,
                fmt::join(library.machines.names(), ", "));
  }
  return *machine;
}

plan::Stack find_stack(const plan::Library& library, const std::string& name) {
  const auto stack = library.stack(name);
  if (!stack) {
    throw_usage("plan: --stack {}: not known; one of {}", name,
                fmt::join(library.stacks.names(), ", "));
  }
  return *stack;
}

template <class T>
bool multiply(T& target, std::span<const plan::ParameterKey<T>> keys, const std::string& name,
              double factor) {
  for (const plan::ParameterKey<T>& key : keys) {
    if (name == key.key) {
      target.*key.field *= factor;
      return true;
    }
  }
  return false;
}

/// --what-if KEY=FACTOR: values of the machine and the software times a factor.
void change_parts(Request& request, const std::string& text) {
  for (const auto& [name, factor] : assignments("--what-if", text)) {
    if (!multiply(request.machine, plan::machine_keys(), name, factor) &&
        !multiply(request.stack, plan::stack_keys(), name, factor)) {
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
  plan::Job job = plan::job_of(given.run);
  if (job.model.layers == 0 || job.model.hidden == 0 || job.global_batch == 0) {
    config::checked(given);
  }
  return {.job = job, .fixed = request.fixed};
}

/// What `check` says of the run in this layout; empty if it may start.
std::vector<config::Finding> findings_of(const Request& request, const plan::Job& job) {
  return config::parse_run(plan::with_layout(request.flags, job)).findings;
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

/// Where the user says how often a GPU fails: how often to save.
void print_failures(const Request& request, const Candidate& candidate) {
  if (!request.gpu_failure_hours) {
    return;
  }
  plan::FailureModel model = request.failures;
  model.between_failures =
      3600 * *request.gpu_failure_hours / static_cast<double>(candidate.job.layout.gpus);
  const double interval = plan::best_interval(model);
  log::print(
      fmt::format("a failure every {:.1f} h: --save-interval {:.0f} ({:.0f} s), of the time "
                  "{:.1f} % trains",
                  model.between_failures / 3600, std::max(1.0, interval / candidate.time.seconds()),
                  interval, 100 * plan::goodput(model, interval)));
}

void print_details(const Request& request, const Candidate& candidate) {
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
  const auto all = plan::sensitivities(request.machine, request.stack, candidate.job);
  for (std::size_t i = 0; i < std::min<std::size_t>(5, all.size()); ++i) {
    log::print(fmt::format("  {:26} {:+5.1f} %", all[i].key, 100 * all[i].change));
  }
  const plan::ErrorBar bar = plan::error_bar(request.machine, request.stack, candidate.job);
  log::print(
      fmt::format("9 of 10 such predictions are within {:.0f} % ({})", 100 * bar.share, bar.why));
  print_failures(request, candidate);
}

constexpr const char* kColumns =
    "    tp cp pp vp ep mbs   dp sharding recompute      step   MFU  tokens/s/GPU  memory GB  "
    "bubble   days  MWh";

std::string line(const Request& request, const Candidate& c, std::size_t number) {
  const plan::Layout& l = c.job.layout;
  const plan::Rates rates = plan::rates(request.machine, c, request.formula, request.prices);
  const std::string recompute =
      l.recompute == plan::Recompute::full ? fmt::format("{:.0f} %", 100 * l.recomputed) : "none";
  std::string text = fmt::format(
      "{:3} {:2} {:2} {:2} {:2} {:2} {:3} {:4} {:8} {:>9} {:8.3f} s {:5.1f} {:13.0f} {:10.1f} "
      "{:5.1f} % {:6.1f} {:5.0f}",
      number, l.tensor, l.context, l.pipeline, l.chunks, l.expert, l.micro_batch, l.data(),
      plan::to_string(l.sharding), recompute, c.time.seconds(), 100 * rates.utilization,
      rates.tokens_per_second / static_cast<double>(l.gpus),
      (c.memory.total() + request.machine.fixed_memory) / kGigabyte, 100 * rates.bubble, rates.days,
      rates.megawatt_hours);
  return rates.cost ? text + fmt::format("  cost {:.4g}", *rates.cost) : text;
}

std::string to_json(const Request& request, const std::vector<Candidate>& candidates) {
  std::string text = fmt::format(R"({{"machine": "{}", "stack": "{}", "layouts": [)",
                                 request.machine.name, request.stack.name);
  const char* separator = "";
  for (const Candidate& c : candidates) {
    const plan::Layout& l = c.job.layout;
    const plan::Rates rates = plan::rates(request.machine, c, request.formula, request.prices);
    const plan::ErrorBar bar = plan::error_bar(request.machine, request.stack, c.job);
    text += fmt::format(
        "{}\n  {{\"tensor\": {}, \"context\": {}, \"pipeline\": {}, \"chunks\": {}, \"expert\": "
        "{}, \"micro_batch\": {}, \"data\": {}, \"sharding\": \"{}\", \"recomputed\": {:.4g}, "
        "\"step_s\": {:.6g}, \"mfu\": {:.5g}, \"tokens_per_second\": {:.6g}, \"memory_bytes\": "
        "{:.0f}, \"bubble\": {:.5g}, \"megawatt_hours\": {:.5g}, \"error_bar\": {:.3g}, "
        "\"breakdown\": {{",
        separator, l.tensor, l.context, l.pipeline, l.chunks, l.expert, l.micro_batch, l.data(),
        plan::to_string(l.sharding), l.recompute == plan::Recompute::full ? l.recomputed : 0.0,
        c.time.seconds(), rates.utilization, rates.tokens_per_second,
        c.memory.total() + request.machine.fixed_memory, rates.bubble, rates.megawatt_hours,
        bar.share);
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
    throw Error(plan::kFitsNowhere,
                fmt::format("no layout divides {} layers, {} heads, a batch of {} and {} GPUs",
                            space.job.model.layers, space.job.model.heads, space.job.global_batch,
                            space.job.layout.gpus));
  }
  const double missing = result.smallest->memory.total() - usable_memory(request);
  std::string help;
  plan::SearchSpace shorter = space;
  shorter.job.sequence /= 2;
  if (!plan::search(request.machine, request.stack, shorter, usable_memory(request))
           .fitting.empty()) {
    help += fmt::format("; --seq-length {} fits", shorter.job.sequence);
  }
  for (Index factor = 2; factor <= 64 && help.find("GPUs") == std::string::npos; factor *= 2) {
    plan::SearchSpace more = space;
    more.job.layout.gpus *= factor;
    if (!plan::search(request.machine, request.stack, more, usable_memory(request))
             .fitting.empty()) {
      help += fmt::format("; {} GPUs fit", more.job.layout.gpus);
    }
  }
  throw Error(plan::kFitsNowhere,
              fmt::format("no layout fits on {} {}: the smallest ({}) misses {:.1f} GB of {:.1f}{}",
                          space.job.layout.gpus, request.machine.name,
                          plan::to_text(result.smallest->job.layout), missing / kGigabyte,
                          usable_memory(request) / kGigabyte, help));
}

/// The fastest that break no rule of `check`.
std::vector<Candidate> legal(const Request& request, const plan::SearchResult& result) {
  std::vector<Candidate> kept;
  for (const Candidate& candidate : result.fitting) {
    if (std::ssize(kept) == request.top) {
      break;
    }
    if (findings_of(request, candidate.job).empty()) {
      kept.push_back(candidate);
    }
  }
  return kept;
}

void print_search(const Request& request, const plan::SearchResult& result,
                  const std::vector<Candidate>& best) {
  log::print(fmt::format("{} layouts, {} fit; FLOPs by the formula {}; software: {}",
                         result.considered, result.fitting.size(), to_string(request.formula),
                         request.stack.name));
  log::print(kColumns);
  for (std::size_t i = 0; i < best.size(); ++i) {
    log::print(line(request, best[i], i + 1));
    if (i == 1) {
      log::print("    slower by " + plan::difference(best[0].time, best[1].time));
    }
  }
  const double bar = plan::error_bar(request.machine, request.stack, best[0].job).share;
  const auto ties = std::ranges::count_if(best, [&](const Candidate& c) {
    return c.time.seconds() < best[0].time.seconds() * (1 + bar);
  });
  log::print(fmt::format("the first {} are within the error of the model: measure them", ties));
  print_details(request, best[0]);
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
                           result.considered, plan::to_text(result.smallest->job.layout),
                           (result.smallest->memory.total() - usable_memory(request)) / kGigabyte));
  } else {
    const Candidate& best = result.fitting.front();
    for (const config::Finding& finding : findings_of(request, best.job)) {
      log::print(config::to_text({finding}));
    }
    log::print(kColumns);
    log::print(line(request, best, 1));
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
  const std::vector<Candidate> best = legal(request, result);
  if (best.empty() && !result.fitting.empty()) {  // the run itself is wrong: say how
    config::checked(config::parse_run(plan::with_layout(request.flags, result.fitting[0].job)));
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
    file.write(plan::to_yaml(plan::with_layout(request.flags, best[0].job)));
    file.commit();
  }
  return static_cast<int>(ExitCode::success);
}

int one_layout(const Request& request) {
  const plan::Job job = plan::job_of(config::parse_valid_run(request.flags).run);
  const std::vector<plan::RankMemory> stages = plan::stage_memory(job);
  const auto fullest = std::ranges::max_element(stages, {}, &plan::RankMemory::total);
  const Candidate candidate{.job = job,
                            .memory = *fullest,
                            .fullest_stage = std::distance(stages.begin(), fullest),
                            .time = plan::step_time({request.machine, request.stack, job})};
  if (request.json) {
    log::print(to_json(request, {candidate}));
  } else {
    log::print(kColumns);
    log::print(line(request, candidate, 1));
    print_details(request, candidate);
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

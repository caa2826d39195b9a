#include "cli/show/plan_request.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

// The options of `mpitron plan --machine`, taken out of the words; what is left describes the run.

namespace mpitron::cli {
namespace {

/// Multiplies values of machine and software as --what-if KEY=FACTOR says.
void change_parts(PlanRequest& request, const std::string& text) {
  for (const auto& [name, factor] : assignments("--what-if", text)) {
    if (!multiply_value(request.machine, request.stack, name, factor)) {
      throw_usage("plan: --what-if {}: no value of machine and stack files has this name", name);
    }
  }
}

}  // namespace

std::map<std::string, Index> layout_choices(const std::string& option, const std::string& text) {
  std::map<std::string, Index> result;
  for (const auto& [name, value] : assignments(option, text)) {
    constexpr std::array<std::string_view, 8> kNames = {"tp", "cp",  "pp",  "vp",
                                                        "ep", "etp", "mbs", "fsdp"};
    if (std::ranges::find(kNames, name) == kNames.end() || value < (name == "fsdp" ? 0 : 1)) {
      throw_usage("plan: {} {}: one of {} is expected, of at least 1 (fsdp: 0 or 1)", option, name,
                  fmt::join(kNames, ", "));
    }
    result[name] = static_cast<Index>(value);
  }
  return result;
}

PlanRequest read_plan_request(const Arguments& arguments) {
  PlanRequest request{.flags = arguments};
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
  const bool says_ranks = std::ranges::any_of(
      request.flags, [](const std::string& word) { return word.starts_with("--world-size"); });
  if (request.searches && !says_ranks) {
    throw_usage("plan --search: --gpus N is missing");
  }
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

/// The margin is a share of the whole memory, for fragments and what the model does not count.
double usable_memory(const PlanRequest& request) {
  return request.machine.memory * (1 - request.margin) - request.machine.fixed_memory;
}

}  // namespace mpitron::cli

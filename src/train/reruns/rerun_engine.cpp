#include "train/reruns/rerun_engine.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "utils/error.h"
#include "utils/numbers/philox.h"

// A state machine over the attempts of an iteration (the reference's RerunStateMachine): a figure
// that is rejected is computed again, here and by the next run, and what came out decides between
// model and machine.

namespace mpitron::train {

using config::InjectedError;
using config::RerunMode;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

std::string advice_on(Index iteration) {
  return fmt::format(
      "Look at the data of iteration {} and at the learning rate; "
      "--no-check-for-nan-in-loss-and-grad trains on",
      iteration);
}

double relative_difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) {
    return 0;
  }
  const double difference = std::fabs(a - b) / std::fabs(a);
  return std::isfinite(difference) ? difference : kInfinity;
}

/// One of so many iterations, drawn from the iteration's number, so that a test can repeat it.
std::optional<InjectedError> RerunEngine::injected(Index iteration) const {
  if (options_.error_injection_rate <= 0) {
    return {};
  }
  constexpr std::uint32_t kPurpose = 0x7265'7275;  // apart from all other random numbers
  const auto step = static_cast<std::uint64_t>(iteration);
  const Philox::Counter random = Philox::generate(
      {static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32), kPurpose, 0},
      {static_cast<std::uint32_t>(options_.seed), kPurpose});
  const auto rate = static_cast<std::uint64_t>(options_.error_injection_rate);
  return random[0] % rate == 0 ? std::optional(options_.error_injection_type) : std::nullopt;
}

/// A rejected result is computed again from the same state. Another one means a transient error;
/// the same one is handed over to a run on other machines, whose result tells whether the figure is
/// right or these machines are faulty.
RerunDecision RerunEngine::judge(Index iteration, const Results& results) {
  if (first_) {
    const First first = *std::exchange(first_, {});
    if (options_.mode == RerunMode::report_stats) {
      add_statistics(first.results, results);
      return {};
    }
    return compare_in_place(iteration, first, results);
  }
  if (options_.mode == RerunMode::report_stats) {
    first_ = First{.results = results};
    return {.again = true};
  }
  if (pending_ && pending_->iteration == iteration && options_.mode != RerunMode::disabled) {
    return compare_with_earlier_run(results);
  }
  const auto rejected =
      std::ranges::find_if(results, [](const Result& r) { return !r.complaint.empty(); });
  const std::optional<InjectedError> injected = this->injected(iteration);
  if (rejected == results.end() && !injected) {
    return {};
  }
  First first{.results = results, .injected = injected};
  if (rejected == results.end()) {
    first.results.front().complaint = "an error was injected (--error-injection-rate)";
  } else {
    first.rejected = static_cast<std::size_t>(rejected - results.begin());
  }
  const Result& result = first.results[first.rejected];
  if (options_.mode == RerunMode::disabled) {
    return reject(iteration, result);
  }
  first_ = first;
  return {.again = true,
          .status = "INITIAL_RUN",
          .result = result.value,
          .message =
              fmt::format("iteration {}: {}; it is computed again", iteration, result.complaint)};
}

/// Rejects a result without another run that could tell more.
RerunDecision RerunEngine::reject(Index iteration, const Result& result) const {
  RerunDecision decision{.status = "RERUN_DISABLED",
                         .result = result.value,
                         .message = fmt::format("iteration {}: {}", iteration, result.complaint)};
  if (result.fatal) {
    decision.exit = ExitCode::result_rejected;
    decision.message += ". The weights were not updated in this iteration. " + advice_on(iteration);
  }
  return decision;
}

/// Adds to report_stats how often two computations of the same step differ.
void RerunEngine::add_statistics(const Results& first, const Results& second) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double difference = relative_difference(first[i].value, second[i].value);
    Statistics& statistics = statistics_[first[i].name];
    ++statistics.compared;
    statistics.different += difference > 0 ? 1 : 0;
    statistics.largest = std::max(statistics.largest, difference);
  }
}

/// Counts since the last call, as one line.
std::string RerunEngine::take_statistics() {
  std::string text;
  for (const auto& [name, s] : std::exchange(statistics_, {})) {
    text += fmt::format(
        "{}{}: {} of {} iterations gave other bits when computed again, largest "
        "relative difference {}",
        text.empty() ? "" : "; ", name, s.different, s.compared, s.largest);
  }
  return text;
}

using nlohmann::json;

/// Stays beside the checkpoints until the next run has decided.
std::string to_json(const PendingResult& pending) {
  json object = {{"iteration", pending.iteration},
                 {"name", pending.name},
                 {"value_bits", std::bit_cast<std::uint64_t>(pending.value)},  // JSON has no NaN
                 {"complaint", pending.complaint},
                 {"fatal", pending.fatal},
                 {"machines", pending.machines}};
  if (pending.injected) {
    object["injected_error"] = static_cast<int>(*pending.injected);
  }
  return object.dump(2) + "\n";
}

/// Error(data) where the text is none; it names `origin`.
PendingResult pending_result(const std::string& text, const std::string& origin) {
  try {
    const json object = json::parse(text);
    PendingResult pending{
        .iteration = object.at("iteration").get<Index>(),
        .name = object.at("name").get<std::string>(),
        .value = std::bit_cast<double>(object.at("value_bits").get<std::uint64_t>()),
        .complaint = object.at("complaint").get<std::string>(),
        .fatal = object.at("fatal").get<bool>(),
        .machines = object.at("machines").get<std::string>()};
    if (object.contains("injected_error")) {
      const int kind = object.at("injected_error").get<int>();
      if (kind < 0 || kind > static_cast<int>(config::InjectedError::persistent_error)) {
        throw_data("{}: there is no kind {} of injected errors", origin, kind);
      }
      pending.injected = static_cast<config::InjectedError>(kind);
    }
    return pending;
  } catch (const json::exception& error) {
    throw_data(
        "{}: not what a run wrote of a rejected result ({}). Remove the file to go on without it",
        origin, error.what());
  }
}

}  // namespace mpitron::train

#include "train/parity/replay.h"

#include <algorithm>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/run/launch.h"
#include "config/parse/parse.h"
#include "config/values/option_values.h"
#include "io/logs/json_text.h"
#include "utils/error.h"
#include "utils/log.h"

// `mpitron replay CASE_DIR`: trains as a recorded run of Megatron-Core did, on its weights and
// batches, and compares loss, gradient norm, logits and final weights with what it recorded.
// Tolerances come with the case. Exit code 0: within them, 1: not.

namespace mpitron::cli {
namespace {

constexpr const char* kReplayHelp =
    "usage: mpitron replay CASE_DIR [--iterations N] [--json] [--device auto|host|cuda|reference] "
    "[FLAGS]\n\n"
    "Trains as a recorded run of the reference did (its flags, weights and batches) and compares "
    "every\n"
    "iteration, or the first N. FLAGS are added behind the recorded ones. Exit code 0: within "
    "tolerance,\n"
    "1: not.\n\n"
    "       mpitron replay --generation DIR [--json] [--device auto|host|cuda]\n\n"
    "Answers every recorded case of generation again: all models below DIR/models, requests to the "
    "server,\n"
    "draws, plans of steps. Exit code 0: all agree, 1: one differs or cannot be answered yet.";

std::string to_json(const train::ReplayResult& result) {
  return fmt::format(
      R"({{"case": {}, "pass": {}, "iterations": {}, "max_rel_loss": {}, "max_rel_grad_norm": {}, )"
      R"("max_abs_logits": {}}})",
      io::json_string(result.name), result.pass(), result.iterations.size(),
      io::json_number(result.max_relative_loss), io::json_number(result.max_relative_grad_norm),
      io::json_number(result.max_absolute_logits));
}

/// Prints what was compared after the last iteration: logits, norms of parameters and buffers.
void print_end(const train::ReplayResult& result) {
  if (!result.complete) {
    log::print("the end   not reached: its logits, norms and buffers are not compared");
    return;
  }
  const train::ReplayTolerance& allowed = result.tolerance;
  log::print(fmt::format("the end   {:.2e} of logits, allowed {:.0e}", result.max_last_logits,
                         allowed.last_logits));
  log::print(fmt::format("          {:.2e} of parameters' norms, allowed {:.0e}; buffers {}",
                         result.max_relative_norm, allowed.final_norms,
                         result.buffers_agree ? "agree" : "differ"));
}

void print_table(const train::ReplayResult& result) {
  log::print(fmt::format("replay of {}: {} iterations", result.name, result.iterations.size()));
  log::print(" iteration |        loss |    recorded | rel. loss | grad norm | rel. norm");
  for (std::size_t i = 0; i < result.iterations.size(); ++i) {
    const train::ReplayedIteration& row = result.iterations[i];
    log::print(fmt::format(" {:9} | {:11.8f} | {:11.8f} | {:9.2e} | {:9.5f} | {:9.2e}{}", i + 1,
                           row.loss, row.recorded_loss, row.relative_loss, row.grad_norm,
                           row.relative_grad_norm,
                           row.skip_differs ? "  skipped update differs" : ""));
  }
  const train::ReplayTolerance& allowed = result.tolerance;
  const auto print = [](const char* what, double most, const char* kind, double most_allowed) {
    log::print(fmt::format("{:9} {:.2e} {}, allowed {:.0e}", what, most, kind, most_allowed));
  };
  print("loss", result.max_relative_loss, "relative", allowed.loss);
  print("grad norm", result.max_relative_grad_norm, "relative", allowed.grad_norm);
  print("logits", result.max_absolute_logits, "absolute", allowed.logits);
  print("layers", result.max_layer_losses, "relative", allowed.layer_losses);
  print_end(result);
  log::print(result.pass() ? "PASS" : "FAIL");
}

/// Value of --iterations: how many of the recorded iterations are replayed.
std::size_t take_iterations(Arguments& words) {
  const auto text = take_value(words, "--iterations");
  if (!text) {
    return SIZE_MAX;
  }
  const std::optional<Index> count = config::read_integer(*text);
  if (!count || *count < 1) {
    throw_usage("--iterations {}: expected a number from 1 on", *text);
  }
  return static_cast<std::size_t>(*count);
}

}  // namespace

int replay(const Arguments& arguments) {
  Arguments words = arguments;
  if (take_flag(words, "--help") || take_flag(words, "-h")) {
    log::print(kReplayHelp);
    return static_cast<int>(ExitCode::success);
  }
  if (std::ranges::find(words, "--generation") != words.end()) {
    return replay_generation(words);
  }
  const bool json = take_flag(words, "--json");
  const std::string device_name = take_value(words, "--device").value_or("auto");
  const std::size_t iterations = take_iterations(words);
  if (words.empty() || words[0].starts_with("-")) {
    throw_usage("replay: the folder of a recorded run comes first, given '{}'",
                words.empty() ? "" : words[0]);
  }
  train::RecordedCase recorded(words[0]);
  words.erase(words.begin());
  const config::ParallelConfig parallel = config::parse_run(words, presumed_ranks()).run.parallel;
  const std::shared_ptr<comm::World> ranks = launch_world(parallel.distributed_timeout_minutes);
  const device::HostRuntime runtime;
  const auto device = make_run_device(device_name, *ranks, parallel);
  const auto world = comm::world_for_device(ranks, *device, device_transport(parallel));
  const train::ReplayResult result = train::replay(*device, *world, recorded, words, iterations);
  if (json) {
    log::print(to_json(result));
  } else {
    print_table(result);
  }
  return result.pass() ? 0 : 1;
}

}  // namespace mpitron::cli

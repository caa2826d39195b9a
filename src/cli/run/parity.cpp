#include "train/parity/parity.h"

#include <algorithm>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/training_words.h"
#include "config/parse/parse.h"
#include "config/values/option_help.h"
#include "io/logs/json_text.h"
#include "utils/error.h"
#include "utils/log.h"

// `mpitron parity`: trains a narrow model of the run's kind for three steps in its layout and on
// one rank, ranks being threads of this process, and compares losses, gradient norms and all
// tensors. Two replicas run, or as many as hold all experts twice: further ones would do the same.

namespace mpitron::cli {
namespace {

constexpr const char* kParityHelp =
    "usage: mpitron parity OPTIONS --world-size N [--json]\n\n"
    "Proves that a layout computes what one rank computes: a narrow model of the same kind, three\n"
    "steps in the layout and on one rank, in this process. Exit code 0: PASS, 1: FAIL.\n";

constexpr Index kMostRanks = 64;

double worst_tensor(const train::ParityCertificate& certificate) {
  double worst = 0;
  for (const train::ParityTensor& tensor : certificate.tensors) {
    worst = std::max(worst, tensor.distance);
  }
  return worst;
}

std::string to_json(const train::ParityCertificate& certificate) {
  const config::ParallelConfig& p = certificate.run.parallel;
  return fmt::format(
      R"({{"pass": {}, "first_difference": {}, "world_size": {}, "tensor": {}, "context": {}, )"
      R"("data": {}, "pipeline": {}, "losses": [{:.9g}], "expected_losses": [{:.9g}], )"
      R"("max_tensor_distance": {:.3g}, "tolerance": {:.0e}}})",
      certificate.pass(), io::json_string(certificate.first_difference()), certificate.world_size,
      p.tensor_model_parallel_size, p.context_parallel_size, p.data_parallel_size,
      p.pipeline_model_parallel_size, fmt::join(certificate.losses, ", "),
      fmt::join(certificate.expected_losses, ", "), worst_tensor(certificate),
      certificate.tolerance);
}

/// `replicas`: of the run; fewer may have run.
void print_report(const train::ParityCertificate& certificate, Index replicas) {
  log::print(" iteration | loss in the layout |  on one rank |  gradient norm |  on one rank");
  for (std::size_t i = 0; i < certificate.losses.size(); ++i) {
    const std::size_t iteration = i / certificate.objectives();
    log::print(fmt::format(" {:9} | {:18.9f} | {:12.9f} | {:14.8f} | {:12.8f}", iteration + 1,
                           certificate.losses[i], certificate.expected_losses[i],
                           certificate.grad_norms[iteration],
                           certificate.expected_grad_norms[iteration]));
  }
  log::print(
      fmt::format("{} tensors after the last step: at most {:.1e} of their norm apart "
                  "(allowed {:.0e})",
                  certificate.tensors.size(), worst_tensor(certificate), certificate.tolerance));
  const Index ran = certificate.run.parallel.data_parallel_size;
  const std::string fewer =
      ran < replicas ? fmt::format(" ({} of {} replicas: further ones do the same)", ran, replicas)
                     : "";
  log::print(certificate.pass() ? fmt::format("PASS on {} ranks{}", certificate.world_size, fewer)
                                : "FAIL, first at: " + certificate.first_difference());
}

}  // namespace

int parity(const Arguments& arguments) {
  if (const auto help = config::requested_help(arguments)) {
    log::print(kParityHelp + *help);
    return static_cast<int>(ExitCode::success);
  }
  Arguments flags = training_options(arguments);
  const bool json = take_flag(flags, "--json");
  const config::RunConfig run = config::parse_run_config(flags);
  const Index ranks = run.parallel.world_size / run.parallel.data_parallel_size;
  if (2 * ranks > kMostRanks) {
    throw_usage(
        "parity runs ranks as threads of one process, at most {} of them: {} tensor x context x "
        "pipeline ranks are too many with two replicas; give smaller sizes of the same kinds",
        kMostRanks, ranks);
  }
  const train::ParityCertificate certificate = train::prove_parity(run);
  if (json) {
    log::print(to_json(certificate));
  } else {
    print_report(certificate, run.parallel.data_parallel_size);
  }
  return static_cast<int>(certificate.pass() ? ExitCode::success : ExitCode::failure);
}

}  // namespace mpitron::cli

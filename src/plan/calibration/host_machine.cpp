#include "plan/calibration/host_machine.h"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "plan/machine/parameter_file.h"
#include "utils/system/machine.h"

// Writes the machine file of a measured host: data-sheet values that stand for what it reached, so
// that formulas work with it too, and the measured block that replays use.

namespace mpitron::plan {
namespace {

/// The best that was measured, as operations or bytes a second; the defaults hold where nothing
/// was.
struct MeasuredRates {
  double products = 1e9;
  double bytes = 1e8;
  double exchange = 1e7;
};

/// Products tell the arithmetic (a multiply-add is two operations), casts the memory, gathers among
/// ranks the links.
MeasuredRates rates_of(const MeasuredCosts& costs) {
  MeasuredRates rates;
  for (const TimedKernel& kernel : costs.kernels()) {
    const double rate = kernel.work / kernel.seconds;
    if (kernel.kernel == "matmul") {
      rates.products = std::max(rates.products, 2 * rate);
    } else if (kernel.kernel == "cast") {
      rates.bytes = std::max(rates.bytes, rate);
    }
  }
  for (const TimedOperation& one : costs.operations()) {
    if (one.kind == comm::CollectiveKind::all_gather) {
      rates.exchange = std::max(rates.exchange, static_cast<double>(one.bytes) / 2 / one.seconds);
    }
  }
  return rates;
}

}  // namespace

std::string host_machine_file(const MeasuredCosts& costs, const std::string& before, Index ranks) {
  MeasuredCosts all = costs;
  if (!before.empty()) {
    const ParameterFile file = parse_parameter_file(before, "the machine file");
    if (file.measured != nullptr) {
      all.add_others(*file.measured, ranks);
    }
  }
  const MeasuredRates rates = rates_of(all);
  const double memory = static_cast<double>(machine_memory());
  return fmt::format(
             "# This host, measured by `mpitron doctor --calibrate` on {:%Y-%m-%d}, {} kernels.\n"
             "# A processor stands for a GPU: the rates are those that the measured kernels "
             "reached.\n"
             "name: cpu\n"
             "gpu: {{peak: {{bf16: {:.4g}}}, memory: {:.4g}, memory-bandwidth: {:.4g}, sms: 1}}\n"
             "node: {{gpus: {}, link-bandwidth: {:.4g}, link-latency: 5e-6}}\n"
             "network: {{bandwidth-per-gpu: {:.4g}, latency: 3e-5, share: 1}}\n"
             "products: {{bf16: 1, k-half: 0}}\n"
             "memory: {{share: 1}}\n"
             "attention: {{forward: 0.5, backward: 0.5}}\n"
             "link: {{share: 1}}\n",
             fmt::gmtime(std::time(nullptr)), all.kernels().size(), rates.products,
             std::max(1e8, memory / static_cast<double>(ranks)), rates.bytes, ranks, rates.exchange,
             rates.exchange) +
         all.to_yaml();
}

}  // namespace mpitron::plan

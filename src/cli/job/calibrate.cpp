#include "cli/job/calibrate.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cli/program.h"
#include "cli/run/launch.h"
#include "config/parse/parse.h"
#include "device/device.h"
#include "plan/calibration/calibration.h"
#include "plan/calibration/calibration_programs.h"
#include "plan/calibration/host_machine.h"
#include "plan/machine/parameter_file.h"
#include "plan/model/job.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/timer.h"

// `mpitron doctor --calibrate`: measures this host for `mpitron plan`. Its time is bounded; what
// there was no time for is told.

namespace mpitron::cli {
namespace {

/// Returns the seconds that a calibration may take. Error(usage) for fewer than its first program
/// needs anywhere.
double calibration_seconds(Arguments& flags) {
  constexpr double kLeastSeconds = 5;
  const auto given = take_value(flags, "--calibrate-seconds");
  if (!given) {
    return plan::CalibrationOptions().seconds;
  }
  char* end = nullptr;
  const double seconds = std::strtod(given->c_str(), &end);
  if (end == given->c_str() || *end != '\0' || !(seconds >= kLeastSeconds) ||
      !std::isfinite(seconds)) {
    throw_usage("--calibrate-seconds {}: a number of seconds from {} on is allowed, as 60", *given,
                kLeastSeconds);
  }
  return seconds;
}

/// Returns the text of a machine file that is there already, empty where none is. Error for one
/// that cannot be read.
std::string known_machine(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    return "";
  }
  std::string text = read_file(path);
  plan::parse_parameter_file(text, path);
  return text;
}

}  // namespace

int calibrate_machine(const Arguments& arguments) {
  Arguments flags = arguments;
  take_flag(flags, "--calibrate");
  const auto path = take_value(flags, "--machine-out");
  if (!path) {
    throw_usage("doctor --calibrate: --machine-out FILE.yaml is missing");
  }
  const plan::CalibrationOptions options{
      .seconds = calibration_seconds(flags),
      .tell = [](const std::string& progress) { log::print(progress); }};
  const auto world = launch_world();
  std::optional<AtomicFile> file;
  std::string before;
  if (world->rank() == 0) {  // what is wrong with the file is told before the minute
    before = known_machine(*path);
    file.emplace(*path);
  }
  const device::HostRuntime runtime;
  const auto device = device::make_device("host", world->make_allocator());
  std::vector<config::RunConfig> programs = plan::calibration_programs();
  if (!flags.empty()) {
    programs = {plan::with_vocabulary(config::parse_valid_run(flags).run)};
  }
  const Timer timer;
  const plan::Calibration measured = plan::calibrate(*device, *world, programs, options);
  if (world->rank() == 0) {
    file->write(plan::host_machine_file(measured.costs, before, world->size()));
    file->commit();
    log::print(fmt::format(
        "{}: {} ranks, {} of {} programs, {:.0f} s{}; mpitron plan FLAGS "
        "--machine {} --world-size {}",
        *path, world->size(), measured.programs, programs.size(), timer.seconds(),
        measured.programs < programs.size() ? " (--calibrate-seconds N gives time for the others)"
                                            : "",
        *path, world->size()));
  }
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli

#include "cli/job/doctor_calibrate.h"

#include <chrono>
#include <filesystem>

#include "cli/flags.h"
#include "cli/run/launch.h"
#include "config/parse/parse.h"
#include "plan/calibration/calibration.h"
#include "plan/calibration/host_machine.h"
#include "utils/log.h"
#include "utils/system/files.h"

namespace mpitron::cli {

int calibrate_machine(const Arguments& arguments) {
  Arguments flags = arguments;
  take_flag(flags, "--calibrate");
  const auto path = take_value(flags, "--machine-out");
  if (!path) {
    throw_usage("doctor --calibrate: --machine-out FILE.yaml is missing");
  }
  const auto world = launch_world();
  const device::HostRuntime runtime;
  const auto device = device::make_device("host", world->make_allocator());
  std::vector<config::RunConfig> programs = plan::calibration_programs();
  if (!flags.empty()) {
    programs = {config::parse_valid_run(flags).run};
  }
  const auto begin = std::chrono::steady_clock::now();
  const plan::MeasuredCosts costs = plan::calibrate(*device, *world, programs);
  if (world->rank() == 0) {
    const bool known = std::filesystem::exists(*path);
    AtomicFile file(*path);
    file.write(plan::host_machine_file(costs, known ? read_file(*path) : "", world->size()));
    file.commit();
    log::print(fmt::format(
        "{}: {} ranks, {} programs, {:.0f} s; mpitron plan FLAGS --machine {} --world-size {}",
        *path, world->size(), programs.size(),
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), *path,
        world->size()));
  }
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli

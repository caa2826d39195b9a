#include "checkpoint/plan/agreement.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/job/calibrate.h"
#include "cli/program.h"
#include "cli/run/launch.h"
#include "comm/worlds/mpi_world.h"
#include "device/device.h"
#include "doctor/check_result.h"
#include "doctor/file_system_check.h"
#include "doctor/node_checks.h"
#include "doctor/node_speed_check.h"
#include "io/hdf5/hdf5_file.h"
#include "kernels/host/linear/gemm.h"
#include "launch/launcher.h"
#include "launch/rank_place.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"

// `mpitron doctor`: checks of src/doctor on every machine of a job, in three parts. Each machine
// looks at itself before MPI starts, since MPI_Init may be what fails; then the ranks connect; then
// they compare clocks, speeds and disks. Rank 0 prints. With --calibrate it is another command
// (calibrate.h).

namespace mpitron::cli {
namespace {

using doctor::CheckResult;
using doctor::Verdict;

struct DoctorFlags {
  std::string run_dir;
  std::string nodes_bad;
  double slow_below = 0.85;
  Index megabytes = 256;
  bool no_speed = false;
  bool without_mpi = false;
  bool json = false;
};

bool read_flags(const Arguments& arguments, DoctorFlags& wishes) {
  Flags flags("doctor",
              "Looks for what is broken on this machine, or under mpirun or srun on all machines "
              "of a job, and says what to do. Exit code 0: nothing fails (there may be warnings), "
              "3: something does. With --calibrate --machine-out FILE.yaml (and a run's options) "
              "it times kernels and operations among the ranks instead, for about a minute "
              "(--calibrate-seconds N), and writes a machine file for mpitron plan.");
  flags.option("--run-dir", wishes.run_dir, "measure how fast this folder takes checkpoints");
  flags.option("--nodes-bad", wishes.nodes_bad,
               "write the names of slow nodes to this file, one on each line");
  flags.option("--slow-below", wishes.slow_below, "slow: less than this share of the median node");
  flags.option("--megabytes", wishes.megabytes,
               "MiB that each rank scales to measure memory, and half of it writes to --run-dir");
  flags.flag("--no-speed", wishes.no_speed, "leave out what takes time: speed of nodes and disks");
  flags.flag("--without-mpi", wishes.without_mpi,
             "do not start MPI: for jobs that die in MPI_Init");
  flags.flag("--json", wishes.json, "print one JSON object");
  if (!flags.parse(arguments)) {
    return false;
  }
  if (wishes.slow_below <= 0 || wishes.slow_below >= 1) {
    throw_usage("--slow-below {}: between 0 and 1 is allowed, for instance 0.85",
                wishes.slow_below);
  }
  if (wishes.megabytes < 2) {
    throw_usage("--megabytes {}: at least 2 is needed", wishes.megabytes);
  }
  return true;
}

/// Returns facts that only the whole program knows: versions of the libraries that it is linked
/// with.
doctor::ThisProgram this_program(const launch::Environment& environment) {
  const launch::MpiLibrary mpi = comm::mpi_library();
  return {.environment = environment,
          .mpi = mpi,
          .libraries = {{mpi.version, "", ""},
                        io::hdf5_version(),
                        kernels::host::onednn_version(),
                        device::kokkos_version(),
                        launch::hwloc_version()},
          .has_cuda = device::kHasCuda};
}

/// Returns whether the launcher calls this process the first of its machine; one for each looks,
/// the others would say the same.
bool is_first_of_node(const launch::Environment& environment, const launch::Launch& launch) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}) {
    if (const auto rank = launch::number_of(environment, name)) {
      return *rank == 0;
    }
  }
  return !launch.step_tasks || launch::number_of(environment, "SLURM_LOCALID").value_or(0) == 0;
}

/// The world of this job, or the reason why there is none.
struct Start {
  std::unique_ptr<comm::World> world;
  CheckResult result;
};

/// Turns a failing MPI_Init that reports its error into a result; the checks then go on alone.
Start start_world(bool without_mpi) {
  if (without_mpi) {
    return {comm::make_single_world(), {"ranks", Verdict::skipped, "MPI was not started", ""}};
  }
  try {
    auto world = comm::make_world();
    const std::string found = fmt::format("MPI connects {} ranks", world->size());
    return {std::move(world), {"ranks", Verdict::ok, found, ""}};
  } catch (const Error& error) {
    return {comm::make_single_world(), {"ranks", Verdict::fail, error.what(), ""}};
  }
}

/// Returns the results of all machines, merged, on rank 0; an empty list on others. Collective.
std::vector<CheckResult> gather(comm::World& world, const std::vector<CheckResult>& own) {
  std::vector<doctor::NodeResults> nodes;
  const auto texts = checkpoint::collect_texts(*world.all(), doctor::to_text(own));
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (!texts[rank].empty()) {
      nodes.push_back({world.host(static_cast<Index>(rank)), doctor::read_results(texts[rank])});
    }
  }
  return doctor::merge(nodes);
}

/// Checks which cores the ranks may use: ranks that share one, or sit on one, slow every step down.
CheckResult check_places(comm::World& world, const launch::Environment& environment) {
  const launch::RankPlace own = launch::own_place(world.host(world.rank()), environment);
  std::vector<launch::RankPlace> places;
  for (const auto& text : checkpoint::collect_texts(*world.all(), launch::to_text(own))) {
    places.push_back(launch::read_place(text));
  }
  const std::vector<std::string> warnings = launch::binding_warnings(places);
  return {"cores", warnings.empty() ? Verdict::ok : Verdict::warn,
          fmt::format("{}", fmt::join(launch::rank_map(places), "; ")),
          fmt::format("{}", fmt::join(warnings, "; "))};
}

void write_nodes(const std::string& path, const std::vector<doctor::SlowNode>& slow) {
  AtomicFile file(path);
  for (const doctor::SlowNode& node : slow) {
    file.write(node.node + "\n");
  }
  file.commit();
}

/// Checks what all ranks must do together: places, clocks, and, without --no-speed, speed of nodes
/// and disks. Collective; results of the speeds are on rank 0 alone.
std::vector<CheckResult> check_together(comm::World& world, const DoctorFlags& wishes,
                                        const launch::Environment& environment) {
  std::vector<CheckResult> results = {check_places(world, environment),
                                      doctor::check_clocks(doctor::read_clocks(world))};
  if (wishes.no_speed) {
    return results;
  }
  const auto all = world.all();
  const device::HostRuntime runtime;
  const auto host = device::make_device("host");
  const doctor::Speed own = doctor::measure_speed(
      *host, {.bytes = wishes.megabytes << 20, .barrier = [&] { all->barrier(); }});
  const std::vector<doctor::NodeSpeed> nodes = doctor::gather_speeds(world, own);
  if (world.rank() == 0) {
    const auto slow = doctor::slow_nodes(nodes, wishes.slow_below);
    results.push_back(doctor::check_node_speeds(nodes, slow));
    if (!wishes.nodes_bad.empty()) {
      write_nodes(wishes.nodes_bad, slow);
    }
  }
  if (!wishes.run_dir.empty()) {
    const auto facts = doctor::read_file_system(wishes.run_dir, world, wishes.megabytes << 19);
    const auto more = doctor::check_file_system(facts);
    results.insert(results.end(), more.begin(), more.end());
  }
  return results;
}

}  // namespace

int doctor(const Arguments& arguments) {
  if (std::ranges::find(arguments, "--calibrate") != arguments.end()) {
    return calibrate_machine(arguments);
  }
  DoctorFlags wishes;
  if (!read_flags(arguments, wishes)) {
    return 0;
  }
  const launch::Environment environment = launch::process_environment();
  const launch::Launch launch = launch::read_launch(environment);
  log::set_rank(static_cast<int>(launch.presumed_rank()));
  const std::vector<CheckResult> own = is_first_of_node(environment, launch)
                                           ? doctor::check_node(this_program(environment))
                                           : std::vector<CheckResult>();
  // MPI_Init may end this process: what is known is told before.
  if (launch.by_mpi() && !wishes.without_mpi && launch.presumed_rank() == 0) {
    for (const CheckResult& result : own) {
      if (result.verdict == Verdict::fail) {
        log::warning("before MPI starts: {}: {} -> {}", result.name, result.found, result.advice);
      }
    }
  }
  const Start start = start_world(wishes.without_mpi);
  comm::World& world = *start.world;
  std::vector<CheckResult> results = gather(world, own);
  results.push_back(start.result);
  const auto together = check_together(world, wishes, environment);
  results.insert(results.end(), together.begin(), together.end());
  // Processes that MPI does not connect all are rank 0 of their own: the first one speaks.
  if (world.rank() == 0 && (world.size() > 1 || launch.presumed_rank() == 0)) {
    log::print(wishes.json ? doctor::to_json(results)
                           : fingerprint() + "\n" + doctor::to_report(results));
  }
  const double good =
      world.all()->reduce(doctor::passed(results) ? 1 : 0, comm::Reduction::minimum);
  return static_cast<int>(good > 0 ? ExitCode::success : ExitCode::environment);
}

}  // namespace mpitron::cli

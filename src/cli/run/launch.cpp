#include "cli/run/launch.h"

#include <algorithm>
#include <cstdlib>

#include "checkpoint/plan/agreement.h"
#include "comm/groups/device_world.h"
#include "comm/worlds/mpi_world.h"
#include "config/rules/communicator_file.h"
#include "device/device.h"
#include "launch/launcher.h"
#include "launch/rank_place.h"
#include "utils/log.h"

// How a command comes to its ranks and its device: MPI if a launcher started it, one process
// otherwise; the GPU of this rank or the host; and how tensors of a GPU travel between ranks.

namespace mpitron::cli {

namespace {

// Signals that Open MPI tells with a stack: SIGABRT, SIGFPE, SIGSEGV. Its fourth, SIGBUS, is told
// with the file's name (utils/system/faults.h).
constexpr const char* kSignalsOfMpi = "6,8,11";

}  // namespace

void tell_places(comm::World& world, const std::string& gpu) {
  const auto all = world.all();
  launch::RankPlace own =
      launch::own_place(world.host(world.rank()), launch::process_environment());
  own.gpu = gpu;
  std::vector<launch::RankPlace> places;
  for (const std::string& text : checkpoint::collect_texts(*all, launch::to_text(own))) {
    places.push_back(launch::read_place(text));
  }
  if (world.size() > 1) {
    for (const std::string& line : launch::rank_map(places)) {
      log::info("{}", line);
    }
  }
  for (const std::string& line : launch::binding_warnings(places)) {
    log::warning("{}", line);
  }
}

/// Believes the first launcher in the environment that tells a size.
Index presumed_ranks() {
  const launch::Launch launch = launch::read_launch(launch::process_environment());
  for (const launch::Claim& claim : launch.claims) {
    if (claim.size) {
      return *claim.size;
    }
  }
  return 1;
}

/// The rank of the log is guessed from the environment first, so that errors of MPI_Init name it,
/// and set again when MPI tells it.
std::unique_ptr<comm::World> launch_world(double timeout_minutes, std::shared_ptr<Trace> trace,
                                          std::shared_ptr<comm::FailureHandler> on_failure) {
  const launch::Environment environment = launch::process_environment();
  const launch::Launch launch = launch::read_launch(environment);
  log::set_rank(static_cast<int>(launch.presumed_rank()));
  ::setenv("OMPI_MCA_opal_signal", kSignalsOfMpi, 0);
  comm::MpiOptions options{.on_failure = std::move(on_failure), .trace = std::move(trace)};
  if (comm::launched_by_mpi()) {
    options.timeout_minutes = timeout_minutes;
  } else if (const std::string warning = launch::launch_warning(launch); !warning.empty()) {
    log::warning("{}", warning);
  }
  auto world = comm::make_world(options);
  log::set_rank(static_cast<int>(world->rank()));
  world->set_phase("starting");
  return world;
}

namespace {

/// Returns the groups whose sums run in network switches (SHARP, --sharp-enabled-group): those over
/// which gradients are summed, or those between instances of the optimizer.
std::vector<const char*> groups_in_switches(const config::ParallelConfig& parallel) {
  if (!parallel.sharp_enabled_group) {
    return {};
  }
  return *parallel.sharp_enabled_group == "dp"
             ? std::vector{"data", "data_context", "parameters_instance_0"}
             : std::vector{"parameters_instance_1"};
}

/// Names a GPU for the map of ranks.
std::string description(int index, const device::Gpu& gpu) {
  return fmt::format("{} ({})", index, gpu.pci_bus_id);
}

}  // namespace

/// All ranks check the binding before any makes a device: two ranks on one GPU hang in NCCL
/// otherwise.
std::unique_ptr<device::Device> make_run_device(std::string_view wanted, comm::World& world,
                                                const config::ParallelConfig& parallel) {
  const auto gpus = device::find_gpus();
  const device::DeviceChoice choice = device::choose_device(wanted, gpus, world.local_rank());
  if (!choice.notice.empty() && world.rank() == 0) {
    log::info("{}", choice.notice);
  }
  const bool through_host = parallel.distributed_backend == config::DistributedBackend::mpi;
  if constexpr (device::kHasCuda) {
    const bool on_gpu = choice.name == "cuda";
    comm::check_gpu_binding(
        world, on_gpu ? gpus->gpus[static_cast<std::size_t>(choice.index)].pci_bus_id : "",
        through_host);
    if (on_gpu) {
      const device::Gpu& gpu = gpus->gpus[static_cast<std::size_t>(choice.index)];
      tell_places(world, description(choice.index, gpu));
      log::info("GPU {} ({}, {}, compute capability {}.{}, {} GiB)", choice.index, gpu.name,
                gpu.pci_bus_id, gpu.major, gpu.minor, gpu.bytes >> 30);
      return device::make_cuda_device(choice.index);
    }
  }
  tell_places(world);
  if (parallel.nccl_ub && world.rank() == 0) {
    log::info("--use-nccl-ub: this run computes on the host, nothing is registered with NCCL");
  }
  return device::make_device(choice.name, world.make_allocator());
}

comm::DeviceTransport device_transport(const config::ParallelConfig& parallel) {
  comm::DeviceTransport transport{
      .through_host = parallel.distributed_backend == config::DistributedBackend::mpi,
      .registers_buffers = parallel.nccl_ub};
  const config::CommunicatorFile file =
      parallel.nccl_communicator_config_path
          ? config::read_communicator_file(*parallel.nccl_communicator_config_path)
          : config::CommunicatorFile{};
  for (const auto& [word, group] : config::communicator_groups()) {
    const auto& high = parallel.high_priority_stream_groups;
    if (std::ranges::find(high, word) != high.end()) {
      transport.high_priority.emplace(group);
    }
    if (const auto limits = file.groups.find(std::string(word)); limits != file.groups.end()) {
      const config::CommunicatorLimits& given = limits->second;
      transport.limits[std::string(group)] = {.min_ctas = given.min_ctas,
                                              .max_ctas = given.max_ctas,
                                              .cga_cluster_size = given.cga_cluster_size,
                                              .net_name = given.net_name};
    }
  }
  for (const char* const group : groups_in_switches(parallel)) {
    transport.limits[group].in_switches = true;
  }
  return transport;
}

}  // namespace mpitron::cli

#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "comm/groups/world.h"
#include "device/device.h"

namespace mpitron::comm {

/// Limits of NCCL for one group (--nccl-communicator-config-path, --use-sharp); absent: as NCCL
/// likes.
struct CommunicatorLimits {
  std::optional<int> min_ctas, max_ctas, cga_cluster_size;
  std::string net_name;      // "IB" or "socket"
  bool in_switches = false;  // collectives may run inside the network's switches
};

/// How tensors of a GPU travel. Groups go by the names of `comm::ParallelGroups`.
struct DeviceTransport {
  bool through_host = false;                 // --distributed-backend mpi: else by NCCL
  std::set<std::string> high_priority = {};  // --high-priority-stream-groups
  std::map<std::string, CommunicatorLimits> limits = {};
  /// --use-nccl-ub: Device::buffers is memory that NCCL registers where a group expects it.
  bool registers_buffers = false;
};

/// `host`, whose groups also take the tensors of `device`: itself, where those are host memory. On
/// a GPU everything that lies there travels by `transport` in the order of the device's stream, so
/// that `Work::wait` has the stream wait and not the host; everything else (numbers, texts,
/// barriers) travels as before. `host` outlives the device; the world returned ends before it.
/// Error(environment) where this build has no NCCL and `transport` wants it.
std::shared_ptr<World> world_for_device(std::shared_ptr<World> host, device::Device& device,
                                        const DeviceTransport& transport = {});

/// Makes a world whose tensors lie on a GPU. Defined only where `device::kHasCuda` (comm/cuda).
std::shared_ptr<World> make_gpu_world(std::shared_ptr<World> host, device::Device& device,
                                      const DeviceTransport& transport);

/// Every rank tells the address of its GPU on the PCI bus ("": it has none). Error(environment) on
/// all ranks, naming two that have the same one, unless they may share it (--distributed-backend
/// mpi).
void check_gpu_binding(World& world, const std::string& pci_bus_id, bool may_share);

}  // namespace mpitron::comm

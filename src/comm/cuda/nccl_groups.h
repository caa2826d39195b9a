#pragma once
#include "comm/groups/device_world.h"

namespace mpitron::comm {

/// Makes groups whose tensors travel by NCCL (NcclGroup). No NCCL header here: a build without NCCL
/// has this too, and says so when it is asked for.
class NcclGroups {
 public:
  virtual ~NcclGroups() = default;
  /// Makes the group of the same name and ranks as `host`.
  virtual std::shared_ptr<Group> make(std::shared_ptr<Group> host) = 0;
};

/// `engine` keeps the operations. Error(environment) in a build without NCCL.
std::unique_ptr<NcclGroups> make_nccl_groups(device::Device& device,
                                             std::shared_ptr<ProgressEngine> engine,
                                             const DeviceTransport& transport);

}  // namespace mpitron::comm

#pragma once
#include <string>

#include "comm/groups/world.h"

namespace mpitron::comm {

/// Every rank tells the address of its GPU on the PCI bus ("": it has none). Error(environment) on
/// all ranks, naming two that have the same one, unless they may share it (--distributed-backend
/// mpi).
void check_gpu_binding(World& world, const std::string& pci_bus_id, bool may_share);

}  // namespace mpitron::comm

// Puts GPUs under a world: checks that no two ranks use one GPU without meaning to, and chooses
// NCCL or copies through the host.
#include "comm/groups/device_world.h"

#include <array>
#include <map>

#include "utils/error.h"

namespace mpitron::comm {

/// The host's world as it is, where tensors lie in its memory.
std::shared_ptr<World> world_for_device(std::shared_ptr<World> host, device::Device& device,
                                        const DeviceTransport& transport) {
  if constexpr (device::kHasCuda) {
    if (!device.tensors_on_host()) {
      return make_gpu_world(std::move(host), device, transport);
    }
  }
  return host;
}

namespace {

using Address = std::array<char, 32>;

/// Texts of one size from all ranks, host name and address together.
std::vector<Address> gather(World& world, const std::string& own) {
  Address mine{};
  own.copy(mine.data(), mine.size() - 1);
  std::vector<Address> all(static_cast<std::size_t>(world.size()));
  const auto bytes = static_cast<Index>(sizeof(Address));
  world.all()
      ->all_gather(ConstTensorView(mine.data(), DType::u8, {bytes}),
                   TensorView(all.data(), DType::u8, {bytes * world.size()}))
      .wait();
  return all;
}

}  // namespace

/// A GPU is one and the same if host and address on the bus agree; numbers do not tell, since
/// CUDA_VISIBLE_DEVICES renames them.
void check_gpu_binding(World& world, const std::string& pci_bus_id, bool may_share) {
  if (may_share) {
    return;
  }
  std::map<std::pair<std::string, std::string>, Index> owners;  // of (host, address)
  Index rank = 0;
  for (const Address& address : gather(world, pci_bus_id)) {
    const auto [at, is_new] = owners.try_emplace({world.host(rank), address.data()}, rank);
    if (!is_new && address[0] != '\0') {
      throw_environment(
          "ranks {} and {} both take the GPU {} of host {}, and NCCL wants one for each: start at "
          "most as many ranks on a node as it has GPUs (and let each see its own or all of them), "
          "or have them share it with --distributed-backend mpi, which sends tensors through the "
          "host",
          at->second, rank, address.data(), world.host(rank));
    }
    ++rank;
  }
}

}  // namespace mpitron::comm

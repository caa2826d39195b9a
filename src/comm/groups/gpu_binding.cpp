#include "comm/groups/gpu_binding.h"

#include <array>
#include <map>

#include "utils/error.h"

namespace mpitron::comm {
namespace {

using Address = std::array<char, 32>;

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

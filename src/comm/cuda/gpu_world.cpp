// Puts groups with NCCL, or with copies through the host, over the groups of the host's world.
// Everything else of a world is the host's.
#include "comm/cuda/gpu_group.h"
#include "comm/cuda/nccl_groups.h"
#include "comm/groups/device_world.h"

namespace mpitron::comm {
namespace {

class GpuWorld final : public World {
 public:
  GpuWorld(std::shared_ptr<World> host, device::Device& device, const DeviceTransport& transport)
      : host_(std::move(host)),
        device_(device),
        // A world of one sends nothing.
        nccl_(transport.through_host || host_->size() == 1
                  ? nullptr
                  : make_nccl_groups(device, host_->engine(), transport)) {}

  Index rank() const override { return host_->rank(); }
  Index size() const override { return host_->size(); }
  Index local_rank() const override { return host_->local_rank(); }
  std::string host(Index rank) const override { return host_->host(rank); }
  void progress() override { host_->progress(); }
  std::shared_ptr<ProgressEngine> engine() override { return host_->engine(); }
  void set_phase(std::string_view phase) override { host_->set_phase(phase); }
  std::unique_ptr<device::Allocator> make_allocator() override { return host_->make_allocator(); }

  /// Groups are kept by name and ranks: the same question gives the same group, as in other worlds.
  std::shared_ptr<Group> make_group(const std::string& name,
                                    const std::vector<Index>& ranks) override {
    auto& group = groups_[{name, ranks}];
    if (group == nullptr) {
      const auto host = host_->make_group(name, ranks);
      group = nccl_ != nullptr ? nccl_->make(host) : std::make_shared<StagedGroup>(host, device_);
    }
    return group;
  }

 private:
  std::shared_ptr<World> host_;
  device::Device& device_;
  std::unique_ptr<NcclGroups> nccl_;
  std::map<std::pair<std::string, std::vector<Index>>, std::shared_ptr<Group>> groups_;
};

}  // namespace

std::shared_ptr<World> make_gpu_world(std::shared_ptr<World> host, device::Device& device,
                                      const DeviceTransport& transport) {
  return std::make_shared<GpuWorld>(std::move(host), device, transport);
}

}  // namespace mpitron::comm

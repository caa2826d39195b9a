#include "comm/cuda/nccl_groups.h"

#include "comm/cuda/nccl_group.h"
#include "comm/cuda/nccl_watch.h"

namespace mpitron::comm {
namespace {

class NcclGroupsOfDevice final : public NcclGroups {
 public:
  NcclGroupsOfDevice(device::Device& device, const std::shared_ptr<ProgressEngine>& engine,
                     const DeviceTransport& transport)
      : transport_(transport), watch_(engine), fabric_{device, engine, watch_} {}

  std::shared_ptr<Group> make(std::shared_ptr<Group> host) override {
    const std::string& name = host->name();
    const auto limits = transport_.limits.find(name);
    return std::make_shared<NcclGroup>(
        std::move(host), fabric_,
        NcclChannel::Settings{
            .group = name,
            .limits = limits == transport_.limits.end() ? CommunicatorLimits{} : limits->second,
            .high_priority = transport_.high_priority.contains(name)});
  }

 private:
  const DeviceTransport transport_;
  NcclWatch watch_;
  const NcclGroup::Fabric fabric_;
};

}  // namespace

std::unique_ptr<NcclGroups> make_nccl_groups(device::Device& device,
                                             std::shared_ptr<ProgressEngine> engine,
                                             const DeviceTransport& transport) {
  return std::make_unique<NcclGroupsOfDevice>(device, engine, transport);
}

}  // namespace mpitron::comm

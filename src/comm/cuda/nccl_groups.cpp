#include "comm/cuda/nccl_groups.h"

#include "comm/cuda/nccl_group.h"
#include "comm/cuda/nccl_memory.h"
#include "comm/cuda/nccl_watch.h"
#include "utils/error.h"

namespace mpitron::comm {
namespace {

constexpr int kRegisters = 21900;  // the first version of NCCL that registers memory

/// Makes the device's memory for what travels, where it is registered; else null.
NcclMemory* make_buffers(device::Device& device, const DeviceTransport& transport) {
  int version = 0;
  if (!transport.registers_buffers || ncclGetVersion(&version) != ncclSuccess) {
    return nullptr;
  }
  if (version < kRegisters) {
    throw_environment(
        "--use-nccl-ub: NCCL {}.{} registers no memory, 2.19 and newer do; leave it out",
        version / 10000, version / 100 % 100);
  }
  auto memory = std::make_unique<NcclMemory>();
  NcclMemory* const buffers = memory.get();
  device.set_buffers(std::move(memory));
  return buffers;
}

class NcclGroupsOfDevice final : public NcclGroups {
 public:
  NcclGroupsOfDevice(device::Device& device, const std::shared_ptr<ProgressEngine>& engine,
                     const DeviceTransport& transport)
      : transport_(transport),
        watch_(engine),
        fabric_{device, engine, watch_, make_buffers(device, transport)} {}

  /// Makes a group; limits and priority go by its name, as the options name them.
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

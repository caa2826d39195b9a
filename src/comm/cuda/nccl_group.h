#pragma once
#include "comm/cuda/gpu_group.h"
#include "comm/cuda/nccl_channel.h"

namespace mpitron::comm {

class NcclMemory;
class NcclWatch;

/// Tensors travel by NCCL, from GPU to GPU, on streams of the group's own: an operation begins when
/// the device's stream has come to where it was started, kernels go on beside it, and `Work::wait`
/// has the stream wait for its end. Collectives share a stream; messages have one for each
/// direction between neighbours in the group's order (others cannot send each other any).
/// Communicators are made when the first collective, or the first message, of a group is started;
/// then every member must start one.
class NcclGroup final : public GpuGroup {
 public:
  /// Objects that the groups of one rank share; it outlives them.
  struct Fabric {
    device::Device& device;
    std::shared_ptr<ProgressEngine> engine;
    NcclWatch& watch;
    NcclMemory* buffers = nullptr;  // of the device, where groups register them
  };
  NcclGroup(std::shared_ptr<Group> host, const Fabric& fabric, NcclChannel::Settings settings);
  void expect(const TensorView& memory) override;

 private:
  Work start_on_device(const Request& request) override;
  /// Returns the device's stream.
  cudaStream_t kernels() const;
  const std::shared_ptr<NcclChannel>& collectives();
  std::shared_ptr<NcclChannel> channel_for(const Request& request);
  const std::shared_ptr<NcclChannel>& message_channel(Index sender, Index receiver);

  const Fabric& fabric_;
  const NcclChannel::Settings settings_;
  std::shared_ptr<NcclChannel> collectives_;  // null before the first one
  MessageChannels messages_;                  // empty before the first one
};

}  // namespace mpitron::comm

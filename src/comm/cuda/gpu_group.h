#pragma once

#include <memory>

#include "comm/groups/group.h"
#include "device/device.h"

namespace mpitron::comm {

/// A group whose members have tensors on GPUs. What lies there travels as a derived class says,
/// everything else by `host`, a group of the same name and ranks.
class GpuGroup : public Group {
 public:
  GpuGroup(std::shared_ptr<Group> host, device::Device& device)
      : Group(host->name(), host->ranks(), host->rank()), host_(std::move(host)), device_(device) {}

 protected:
  Group& host() const { return *host_; }
  device::Device& device() const { return device_; }

  void run_alone(const Request& request) final;

 private:
  Work start(const Request& request) final;
  virtual Work start_on_device(const Request& request) = 0;

  std::shared_ptr<Group> host_;
  device::Device& device_;
};

/// Tensors travel through pinned memory of the host and the host's group, so that several ranks may
/// share a GPU and nothing but MPI is needed. Starting an operation waits for the GPU; the results
/// come back in the order of its stream. Bits are those of the host's group.
class StagedGroup final : public GpuGroup {
 public:
  using GpuGroup::GpuGroup;

 private:
  Work start_on_device(const Request& request) override;

  std::shared_ptr<ProgressEngine> engine_ = std::make_shared<ProgressEngine>();
};

}  // namespace mpitron::comm

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

}  // namespace mpitron::comm

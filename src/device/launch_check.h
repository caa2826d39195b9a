#pragma once
#include <string>

#include "device/device.h"
#include "device/launch.h"

namespace mpitron::device {

/// Waits for the device behind every launch while it lives, so that what fails asynchronously is
/// reported for the kernel that failed: Error(environment) with the kernel and the name, type,
/// shape and address of its arguments. Steps are not recorded as graphs meanwhile.
class LaunchCheck final : public LaunchObserver {
 public:
  explicit LaunchCheck(Device& device);
  ~LaunchCheck() override;
  LaunchCheck(const LaunchCheck&) = delete;
  LaunchCheck& operator=(const LaunchCheck&) = delete;

  void before(const LaunchRecord& record) override;
  void after(const LaunchRecord& record) override;
  void argument(const LaunchRecord& record, const char* name, const ConstTensorView& view) override;

 private:
  Device& device_;
  LaunchObserver* previous_;
};

}  // namespace mpitron::device

#pragma once
#include "device/device.h"
#include "utils/trace.h"

namespace mpitron::device {

/// Adds every launch on a device to a trace while it lives; other observers wait so long. On a
/// device whose launches return before the kernel ends, a span is the time of the launch.
class LaunchTrace final : public LaunchObserver {
 public:
  LaunchTrace(Device& device, Trace& trace);
  ~LaunchTrace() override;
  LaunchTrace(const LaunchTrace&) = delete;
  LaunchTrace& operator=(const LaunchTrace&) = delete;

  void before(const LaunchRecord& record) override;
  void after(const LaunchRecord& record) override;
  void argument(const LaunchRecord&, const char*, const ConstTensorView&) override {}

 private:
  Device& device_;
  Trace& trace_;
  LaunchObserver* previous_;
  std::int64_t begin_ = 0;
};

}  // namespace mpitron::device

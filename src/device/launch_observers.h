#pragma once

#include <string>

#include "device/device.h"
#include "device/launch.h"
#include "device/stream_clock.h"
#include "utils/trace.h"

namespace mpitron::device {

/// Adds every launch on a device to a trace while it lives; other observers wait so long. Spans are
/// the device's time; where launches return before the kernel ends, all are added at the end.
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
  void read();

  Device& device_;
  Trace& trace_;
  LaunchObserver* previous_;
  std::unique_ptr<StreamClock> clock_;
  std::vector<TraceSpan> unread_;  // a begin and an end of the clock for each
};

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

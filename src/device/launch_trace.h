#pragma once
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

}  // namespace mpitron::device

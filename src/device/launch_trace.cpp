#include "device/launch_trace.h"

#include <utility>

namespace mpitron::device {
namespace {

LaunchObserver*& observer_of(Device& device) {
  return *std::visit([](auto& stream) { return &stream.observer; }, device.stream());
}

}  // namespace

LaunchTrace::LaunchTrace(Device& device, Trace& trace)
    : device_(device), trace_(trace), previous_(std::exchange(observer_of(device), this)) {}

LaunchTrace::~LaunchTrace() {
  observer_of(device_) = previous_;
}

void LaunchTrace::before(const LaunchRecord&) {
  begin_ = Trace::now();
}

void LaunchTrace::after(const LaunchRecord& record) {
  trace_.add({.kind = TraceKind::kernel,
              .name = trace_name(record.kernel),
              .begin = begin_,
              .end = Trace::now(),
              .bytes = record.bytes});
}

}  // namespace mpitron::device

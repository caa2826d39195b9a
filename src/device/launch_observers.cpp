// Observes launches: a trace of all of them, and a check that waits for each, so that an error
// names the kernel that failed. A trace takes the place of other observers, a check calls them on.
#include "device/launch_observers.h"

#include <utility>

#include "device/copy.h"
#include "utils/error.h"

namespace mpitron::device {

LaunchTrace::LaunchTrace(Device& device, Trace& trace)
    : device_(device),
      trace_(trace),
      previous_(std::exchange(device.observer(), this)),
      clock_(make_stream_clock(device.stream())) {}

LaunchTrace::~LaunchTrace() {
  read();
  device_.observer() = previous_;
}

void LaunchTrace::before(const LaunchRecord& record) {
  clock_->mark();
  unread_.push_back(
      {.kind = TraceKind::kernel, .name = trace_name(record.kernel), .bytes = record.bytes});
  trace_.begin_range(unread_.back());
}

void LaunchTrace::after(const LaunchRecord&) {
  trace_.end_range();
  clock_->mark();
  if (device_.tensors_on_host()) {
    read();
  }
}

void LaunchTrace::read() {
  const std::vector<std::int64_t> moments = clock_->take();
  for (std::size_t i = 0; i < unread_.size(); ++i) {
    unread_[i].begin = moments[2 * i];
    unread_[i].end = moments[2 * i + 1];
    trace_.add(unread_[i]);
  }
  unread_.clear();
}

LaunchCheck::LaunchCheck(Device& device)
    : device_(device), previous_(std::exchange(device.observer(), this)) {}

LaunchCheck::~LaunchCheck() {
  device_.observer() = previous_;
}

void LaunchCheck::before(const LaunchRecord& record) {
  if (previous_ != nullptr) {
    previous_->before(record);
  }
}

void LaunchCheck::after(const LaunchRecord& record) {
  try {
    synchronize(device_.stream());
  } catch (const std::exception& error) {
    throw_environment("kernel {} failed on {} with {}: {}", record.kernel, record.device,
                      record.arguments(), error.what());
  }
  if (previous_ != nullptr) {
    previous_->after(record);
  }
}

void LaunchCheck::argument(const LaunchRecord& record, const char* name,
                           const ConstTensorView& view) {
  if (previous_ != nullptr) {
    previous_->argument(record, name, view);
  }
}

}  // namespace mpitron::device

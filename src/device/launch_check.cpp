#include "device/launch_check.h"

#include <utility>

#include "device/copy.h"
#include "utils/error.h"

namespace mpitron::device {
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

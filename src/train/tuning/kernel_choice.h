#pragma once
#include <optional>

#include "config/run_config.h"
#include "device/launch_observers.h"

namespace mpitron::train {

/// What a run's flags say of the kernels of its device while it lives: the order in which attention
/// kernels are tried (--attention-backend, --attention-kernel), who multiplies (--matmul-kernel),
/// and whether every launch is waited for (--device-synchronize). Made before kernels are launched.
class KernelChoice {
 public:
  KernelChoice(device::Device& device, const config::TrainingConfig& training,
               config::AttentionBackend backend);

 private:
  std::optional<device::LaunchCheck> check_;
};

}  // namespace mpitron::train

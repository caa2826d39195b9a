#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "comm/groups/world.h"
#include "config/run_config.h"
#include "device/device.h"
#include "device/launch_observers.h"
#include "train/tuning/tuning_file.h"

namespace mpitron::train {

/// Returns the file in which choices are kept without --tuning-file: below $XDG_CACHE_HOME or
/// ~/.cache, one file for GPUs of one name. Empty where neither variable is set.
std::filesystem::path default_tuning_file(std::string_view gpu_name);

/// Which kernels and algorithms a GPU takes in this process where it has several for one thing
/// (attention_choice.h, gemm_choice.h); on all ranks those of rank 0.
///
/// A choice is that of the tuning file. What the passes of the first step meet and the file lacks
/// is measured on rank 0's GPU and added, and the passes are made again. So a step depends on the
/// file alone, and a run with a complete file measures nothing.
///
/// Attention is chosen with --attention-backend auto (other backends are an order of kernels), also
/// without --tuning-file; products with --tuning-file only. With --deterministic-mode and without
/// --tuning-file nothing is measured.
class KernelTuning {
 public:
  /// Takes the file's choices; every rank, before kernels are launched. Error(data) where the file
  /// is of another GPU.
  KernelTuning(device::Device& device, comm::World& world, const config::RunConfig& config);
  ~KernelTuning();
  KernelTuning(const KernelTuning&) = delete;
  KernelTuning& operator=(const KernelTuning&) = delete;

  /// Completes the choices; called by every rank between the passes of a step and its update. True,
  /// on all ranks, where choices were added, so that the passes must be made again; once at most.
  bool complete();

 private:
  /// Returns the file's choices, with those for what the ranks have met measured and added.
  Tuning measured(const std::vector<std::string>& met);
  void apply() const;

  device::Device& device_;
  std::shared_ptr<comm::Group> all_;
  bool by_name_;  // --tuning-file
  bool attention_, products_;
  bool noting_ = false;
  std::filesystem::path path_;
  Tuning tuning_;
};

/// Holds what a run's flags say of the kernels of its device while it lives: the order in which
/// attention kernels are tried (--attention-backend, --attention-kernel), who multiplies
/// (--matmul-kernel), and whether every launch is waited for (--device-synchronize). Made before
/// kernels are launched.
class KernelChoice {
 public:
  KernelChoice(device::Device& device, const config::TrainingConfig& training,
               config::AttentionBackend backend);

 private:
  std::optional<device::LaunchCheck> check_;
};

}  // namespace mpitron::train

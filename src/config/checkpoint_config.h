#pragma once
#include <optional>
#include <string>

#include "utils/shape.h"

namespace mpitron::config {

enum class CheckpointFormat { torch, torch_dist, zarr, torch_dcp, fsdp_dtensor };

/// Where the training state is written and read.
struct CheckpointConfig {
  std::optional<std::string> save;
  std::optional<Index> save_interval;  // iterations
  std::optional<Index> save_retain_interval;
  bool no_save_optim = false;
  bool no_save_rng = false;
  std::optional<std::string> load;
  bool no_load_optim = false;
  bool no_load_rng = false;
  bool finetune = false;
  std::optional<std::string> pretrained_checkpoint;
  std::optional<Index> ckpt_step;
  bool use_checkpoint_args = false;
  bool exit_on_missing_checkpoint = false;
  bool async_save = false;
  bool ckpt_fully_parallel_save = true;
  bool ckpt_fully_parallel_load = false;
  CheckpointFormat ckpt_format = CheckpointFormat::torch_dist;
  std::string dist_ckpt_strictness = "assume_ok_unexpected";
};

}  // namespace mpitron::config

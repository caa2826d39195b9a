#pragma once
#include <optional>
#include <string>

#include "utils/shape.h"

namespace mpitron::config {

/// Where the training state is written and read.
struct CheckpointConfig {
  std::optional<std::string> save;
  std::optional<Index> save_interval;  // iterations
  std::optional<Index> save_retain_interval;
  std::optional<Index> save_keep_last;
  bool no_save_optim = false;
  std::optional<std::string> load;
  bool allow_random_init = false;
  bool no_load_optim = false;
  bool load_main_params_from_ckpt = false;
  bool finetune = false;
  std::optional<std::string> pretrained_checkpoint;
  std::optional<Index> ckpt_step;
  bool use_checkpoint_args = false;
  bool exit_on_missing_checkpoint = false;
  bool use_mp_args_from_checkpoint_args = false;
  bool async_save = false;
  double save_staging_gib = 2;
  bool verify_resume = false;
  std::string dist_ckpt_strictness = "raise_all";  // unless the option is given
};

}  // namespace mpitron::config

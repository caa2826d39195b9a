#pragma once
#include <optional>
#include <string>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// Short-lived checkpoints between the persistent ones; of each kind only the newest is kept.
struct NonPersistentConfig {
  std::optional<Index> save_interval;        // iterations
  bool global = false;                       // whole checkpoints in a shared folder
  bool local = false;                        // each rank's state in a folder of its node
  std::optional<std::string> global_folder;  // none: --save/non_persistent
  std::optional<std::string> local_folder;
  /// Ranks r, r + jump, ... hold each other's local checkpoints, so many in a group; a factor of 1
  /// means none does.
  Index replication_jump = 0;
  Index replication_factor = 1;
};

/// What a run starts from.
struct LoadConfig {
  std::optional<std::string> load;
  bool allow_random_init = false;
  bool no_load_optim = false;
  bool load_main_params_from_ckpt = false;
  bool finetune = false;
  std::optional<std::string> load_adapter;  // a folder of PEFT
  std::optional<std::string> pretrained_checkpoint;
  std::optional<Index> ckpt_step;
  bool use_checkpoint_args = false;
  bool exit_on_missing_checkpoint = false;
  bool use_mp_args_from_checkpoint_args = false;
};

/// Where the training state is written and read.
struct CheckpointConfig : LoadConfig {
  std::optional<std::string> save;
  std::optional<Index> save_interval;  // iterations
  std::optional<Index> save_retain_interval;
  std::optional<Index> save_keep_last;
  std::optional<Index> save_keep_optim_last;
  bool no_save_optim = false;
  bool async_save = false;
  bool save_file_per_writer = false;
  double save_staging_gib = 2;
  bool verify_resume = false;
  NonPersistentConfig non_persistent;
  /// --ckpt-convert-save/--ckpt-convert-format: what was loaded is written there, and the run ends.
  std::optional<std::string> convert_to;
  /// --moe-use-upcycling: what is loaded is a dense model, whose matrices become those of experts,
  /// each cut into so many; it is written to `save`, and the run ends.
  std::optional<Index> upcycling_granularity;
  std::string dist_ckpt_strictness = "raise_all";  // unless the option is given
};

}  // namespace mpitron::config

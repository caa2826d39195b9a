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

/// The state that a run starts from: a checkpoint to continue, weights to finetune, or neither.
struct LoadConfig {
  std::optional<std::string> load;
  /// A missing --load folder starts from random weights instead of ending the run.
  bool allow_random_init = false;
  bool no_load_optim = false;
  /// Reads the fp32 parameters of the checkpoint instead of deriving them from half precision.
  bool load_main_params_from_ckpt = false;
  bool finetune = false;
  std::optional<std::string> load_adapter;  // a folder of PEFT
  std::optional<std::string> pretrained_checkpoint;
  std::optional<Index> ckpt_step;
  bool use_checkpoint_args = false;
  bool exit_on_missing_checkpoint = false;
  bool use_mp_args_from_checkpoint_args = false;
};

/// Where and how often the training state is written, and what is read at the start.
struct CheckpointConfig : LoadConfig {
  std::optional<std::string> save;
  std::optional<Index> save_interval;  // iterations
  /// Limits of what is kept: multiples of an iteration, the newest so many, and of these so many
  /// with optimizer state.
  std::optional<Index> save_retain_interval;
  std::optional<Index> save_keep_last;
  std::optional<Index> save_keep_optim_last;
  bool no_save_optim = false;
  bool async_save = false;
  /// Each writer has a file of its own, for file systems that are slow when a file is shared.
  bool save_file_per_writer = false;
  /// Memory of each rank, in GiB, that copies of tensors take while they are written behind
  /// training.
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

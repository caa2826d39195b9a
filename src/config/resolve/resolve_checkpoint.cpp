#include "config/resolve/resolve.h"

// Options on saving and loading as a CheckpointConfig.

namespace mpitron::config {
namespace {

/// Fills checkpoints for restarts alone: in the shared folder or on local disks.
NonPersistentConfig resolve_non_persistent(const OptionValues& v) {
  NonPersistentConfig c;
  const std::string type = v.maybe_text("non_persistent_ckpt_type").value_or("None");
  c.save_interval = v.maybe_integer("non_persistent_save_interval");
  c.global = type == "global";
  c.local = type == "local";
  c.global_folder = v.maybe_text("non_persistent_global_ckpt_dir");
  if (const auto save = v.maybe_text("save"); save && !c.global_folder) {
    c.global_folder = *save + "/non_persistent";
  }
  c.local_folder = v.maybe_text("non_persistent_local_ckpt_dir");
  if (v.flag("replication")) {
    c.replication_jump = v.maybe_integer("replication_jump").value_or(0);
    c.replication_factor = v.integer("replication_factor");
  }
  return c;
}

}  // namespace

/// Keeps paths as words; the run decides which exist.
CheckpointConfig resolve_checkpoint(const OptionValues& v) {
  CheckpointConfig c;
  c.save = v.maybe_text("save");
  c.save_interval = v.maybe_integer("save_interval");
  c.save_retain_interval = v.maybe_integer("save_retain_interval");
  c.no_save_optim = v.flag("no_save_optim");
  c.save_keep_last = v.maybe_integer("save_keep_last");
  c.save_keep_optim_last = v.maybe_integer("save_keep_optim_last");
  c.load = v.maybe_text("load");
  c.no_load_optim = v.flag("no_load_optim");
  c.allow_random_init = v.flag("allow_random_init");
  c.load_main_params_from_ckpt = v.flag("load_main_params_from_ckpt");
  c.finetune = v.flag("finetune");
  c.load_adapter = v.maybe_text("load_adapter");
  c.pretrained_checkpoint = v.maybe_text("pretrained_checkpoint");
  c.ckpt_step = v.maybe_integer("ckpt_step");
  c.use_checkpoint_args = v.flag("use_checkpoint_args");
  c.use_mp_args_from_checkpoint_args = v.flag("use_mp_args_from_checkpoint_args");
  c.exit_on_missing_checkpoint = v.flag("exit_on_missing_checkpoint");
  c.async_save = v.flag("async_save");
  c.save_file_per_writer = v.flag("save_file_per_writer");
  c.save_staging_gib = v.real("save_staging_gib");
  c.verify_resume = v.flag("verify_resume");
  c.non_persistent = resolve_non_persistent(v);
  if (const auto format = v.maybe_text("ckpt_convert_format")) {
    c.convert_to = v.maybe_text("ckpt_convert_save").value_or("") + "/" + *format;
  }
  if (v.flag("moe_use_upcycling")) {
    c.upcycling_granularity = v.integer("moe_upcycling_granularity");
    c.no_load_optim = true;  // nothing in it would fit the experts
  }
  if (v.given("dist_ckpt_strictness")) {
    c.dist_ckpt_strictness = v.text("dist_ckpt_strictness");
  }
  return c;
}

}  // namespace mpitron::config

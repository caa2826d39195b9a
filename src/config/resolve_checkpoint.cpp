#include "config/resolve.h"

namespace mpitron::config {

CheckpointConfig resolve_checkpoint(const OptionValues& v) {
  CheckpointConfig c;
  c.save = v.maybe_text("save");
  c.save_interval = v.maybe_integer("save_interval");
  c.save_retain_interval = v.maybe_integer("save_retain_interval");
  c.no_save_optim = v.flag("no_save_optim");
  c.save_keep_last = v.maybe_integer("save_keep_last");
  c.load = v.maybe_text("load");
  c.no_load_optim = v.flag("no_load_optim");
  c.allow_random_init = v.flag("allow_random_init");
  c.load_main_params_from_ckpt = v.flag("load_main_params_from_ckpt");
  c.finetune = v.flag("finetune");
  c.pretrained_checkpoint = v.maybe_text("pretrained_checkpoint");
  c.ckpt_step = v.maybe_integer("ckpt_step");
  c.use_checkpoint_args = v.flag("use_checkpoint_args");
  c.use_mp_args_from_checkpoint_args = v.flag("use_mp_args_from_checkpoint_args");
  c.exit_on_missing_checkpoint = v.flag("exit_on_missing_checkpoint");
  c.async_save = v.flag("async_save");
  c.save_staging_gib = v.real("save_staging_gib");
  c.verify_resume = v.flag("verify_resume");
  if (v.given("dist_ckpt_strictness")) {
    c.dist_ckpt_strictness = v.text("dist_ckpt_strictness");
  }
  return c;
}

}  // namespace mpitron::config

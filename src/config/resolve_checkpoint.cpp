#include "config/pick.h"
#include "config/resolve.h"

namespace mpitron::config {

CheckpointConfig resolve_checkpoint(const OptionValues& v) {
  using enum CheckpointFormat;
  CheckpointConfig c;
  c.save = v.maybe_text("save");
  c.save_interval = v.maybe_integer("save_interval");
  c.save_retain_interval = v.maybe_integer("save_retain_interval");
  c.no_save_optim = v.flag("no_save_optim");
  c.no_save_rng = v.flag("no_save_rng");
  c.load = v.maybe_text("load");
  c.no_load_optim = v.flag("no_load_optim");
  c.no_load_rng = v.flag("no_load_rng");
  c.finetune = v.flag("finetune");
  c.pretrained_checkpoint = v.maybe_text("pretrained_checkpoint");
  c.ckpt_step = v.maybe_integer("ckpt_step");
  c.use_checkpoint_args = v.flag("use_checkpoint_args");
  c.exit_on_missing_checkpoint = v.flag("exit_on_missing_checkpoint");
  c.async_save = v.flag("async_save");
  c.ckpt_fully_parallel_save = v.flag("ckpt_fully_parallel_save");
  c.ckpt_fully_parallel_load = v.flag("ckpt_fully_parallel_load");
  c.ckpt_format = pick<CheckpointFormat>(v.text("ckpt_format"), {{"torch", torch},
                                                                 {"torch_dist", torch_dist},
                                                                 {"zarr", zarr},
                                                                 {"torch_dcp", torch_dcp},
                                                                 {"fsdp_dtensor", fsdp_dtensor}});
  c.dist_ckpt_strictness = v.text("dist_ckpt_strictness");
  return c;
}

}  // namespace mpitron::config

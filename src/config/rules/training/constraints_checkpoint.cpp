#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"

// Rules on saving, loading and short-lived checkpoints. The function of a rule stands above; its
// row says the rule, the options and the reason.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// --save-interval alone is not refused: the run saves nothing.
Result save_folder(const Facts& f) {
  const std::string name =
      first_given(f.values, {"save_retain_interval", "save_keep_last", "save_keep_optim_last",
                             "save_file_per_writer", "async_save", "verify_resume"});
  return f.run.checkpoint.save || name.empty()
             ? Result()
             : Violation{name + " without --save", "--save FOLDER"};
}

Result load_folder(const Facts& f) {
  const std::string name =
      first_given(f.values, {"ckpt_step", "use_checkpoint_args", "use_mp_args_from_checkpoint_args",
                             "allow_random_init"});
  const CheckpointConfig& c = f.run.checkpoint;
  return c.load || c.pretrained_checkpoint || name.empty()
             ? Result()
             : Violation{name + " without --load", "--load FOLDER"};
}

/// Names the first count below 1, else staging memory of nothing; not given is allowed for each.
Result save_counts(const Facts& f) {
  const CheckpointConfig& c = f.run.checkpoint;
  for (const auto& [name, value] : {std::pair{"save_interval", c.save_interval},
                                    {"save_retain_interval", c.save_retain_interval},
                                    {"save_keep_last", c.save_keep_last},
                                    {"save_keep_optim_last", c.save_keep_optim_last}}) {
    if (value && *value < 1) {
      return Violation{fmt::format("{} = {}", name, *value), ""};
    }
  }
  if (!(c.save_staging_gib > 0)) {
    return Violation{fmt::format("save_staging_gib = {}", c.save_staging_gib), ""};
  }
  return {};
}

/// Kept iterations are picked among saved ones, so they must be multiples of --save-interval.
Result retained_are_saved(const Facts& f) {
  const CheckpointConfig& c = f.run.checkpoint;
  const Index interval = c.save_interval.value_or(0), retained = c.save_retain_interval.value_or(0);
  return divides(retained, interval, nearest_multiples("save-retain-interval", retained, interval));
}

Result optimizer_is_saved(const Facts& f) {
  const CheckpointConfig& c = f.run.checkpoint;
  return c.save_keep_optim_last && c.no_save_optim
             ? Violation{"--no-save-optim leaves it out of all", "no --save-keep-optim-last"}
             : Result();
}

/// Refuses the option where the optimizer's state is loaded, which holds the fp32 parameters
/// already.
Result main_params(const Facts& f) {
  const CheckpointConfig& c = f.run.checkpoint;
  return c.load_main_params_from_ckpt && !c.no_load_optim && !c.finetune
             ? Violation{"the optimizer's state is loaded, which holds them", "--no-load-optim"}
             : Result();
}

Result one_scheduler(const Facts& f) {
  const OptimizerConfig& o = f.run.optimizer;
  return o.override_opt_param_scheduler && o.use_checkpoint_opt_param_scheduler
             ? Violation{"both are given", "--override-opt_param-scheduler"}
             : Result();
}

/// Type and interval come together; of the folders only the node's has no default below --save.
Result non_persistent(const Facts& f) {
  const NonPersistentConfig& c = f.run.checkpoint.non_persistent;
  const std::string type = f.values.maybe_text("non_persistent_ckpt_type").value_or("None");
  if (type == "in_memory") {
    return Violation{"non_persistent_ckpt_type = in_memory exists nowhere",
                     "--non-persistent-ckpt-type local"};
  }
  if ((c.global || c.local) && !c.save_interval) {
    return Violation{"no interval", "--non-persistent-save-interval 100"};
  }
  if (c.save_interval && !c.global && !c.local) {
    return Violation{"no type", "--non-persistent-ckpt-type global | local"};
  }
  if (c.save_interval && (*c.save_interval < 1 || !f.run.checkpoint.save)) {
    return *c.save_interval < 1
               ? Violation{fmt::format("non_persistent_save_interval = {}", *c.save_interval), ""}
               : Violation{"there is no --save", "--save FOLDER"};
  }
  return c.local && !c.local_folder
             ? Violation{"no folder of the node", "--non-persistent-local-ckpt-dir FOLDER"}
             : Result();
}

/// Ranks r, r + jump, ..., r + (factor - 1) jump are a group; groups fill the world.
Result replication(const Facts& f) {
  const NonPersistentConfig& c = f.run.checkpoint.non_persistent;
  if (!f.values.flag("replication")) {
    const std::string name = first_given(f.values, {"replication_jump", "replication_factor"});
    return name.empty() ? Result() : Violation{name + " without --replication", "--replication"};
  }
  if (!c.local) {
    return Violation{"checkpoints are not local", "--non-persistent-ckpt-type local"};
  }
  const Index world = f.run.parallel.world_size;
  if (c.replication_jump < 1 || c.replication_factor < 2) {
    return Violation{fmt::format("jump {}, factor {}", c.replication_jump, c.replication_factor),
                     "--replication-jump 1 --replication-factor 2"};
  }
  return divides(
      world, c.replication_jump * c.replication_factor,
      nearest_divisors("replication-factor", world / c.replication_jump, c.replication_factor));
}

constexpr std::array kCheckpointRules = std::to_array<Constraint>({
    {"E110", "save_folder", "options of saving need --save",
     "save save-retain-interval save-keep-last save-keep-optim-last save-file-per-writer "
     "async-save verify-resume",
     "Without a folder nothing is saved.", save_folder},
    {"E111", "load_folder", "options of loading need --load",
     "load ckpt-step use-checkpoint-args use-mp-args-from-checkpoint-args allow-random-init",
     "Without a folder nothing is loaded.", load_folder},
    {"E112", "save_counts", "intervals, counts and sizes of saving are positive",
     "save-interval save-retain-interval save-keep-last save-keep-optim-last save-staging-gib",
     "They count iterations, checkpoints and GiB.", save_counts},
    {"E113", "retained_are_saved", "save_retain_interval % save_interval == 0",
     "save-retain-interval save-interval", "Only what is saved can be kept.", retained_are_saved},
    {"E163", "optimizer_is_saved", "--save-keep-optim-last needs optimizer state",
     "save-keep-optim-last no-save-optim", "What is not saved cannot be kept.", optimizer_is_saved},
    {"E114", "main_params", "--load-main-params-from-ckpt needs --no-load-optim or --finetune",
     "load-main-params-from-ckpt no-load-optim finetune",
     "It says where fp32 parameters come from when the optimizer's state is not loaded.",
     main_params},
    {"E115", "one_scheduler",
     "one of --override-opt_param-scheduler, --use-checkpoint-opt_param-scheduler",
     "override-opt_param-scheduler use-checkpoint-opt_param-scheduler",
     "The schedule comes from the options or from the checkpoint.", one_scheduler},
    {"E116", "non_persistent",
     "short-lived checkpoints have an interval, a type, --save, and local ones a folder",
     "non-persistent-save-interval non-persistent-ckpt-type non-persistent-local-ckpt-dir save",
     "They fill the time between the persistent ones of --save.", non_persistent},
    {"E117", "replication",
     "world_size % (replication_jump * replication_factor) == 0, factor >= 2, local checkpoints",
     "replication replication-jump replication-factor non-persistent-ckpt-type",
     "Ranks r, r + jump, ... hold each other's local checkpoints.", replication},
});

}  // namespace

std::span<const Constraint> checkpoint_constraints() {
  return kCheckpointRules;
}

}  // namespace mpitron::config

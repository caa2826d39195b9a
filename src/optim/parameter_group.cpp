#include "optim/parameter_group.h"

#include "utils/error.h"

namespace mpitron::optim {
namespace {

bool skips_weight_decay(const ParameterTraits& parameter, const ParameterGroupOptions& options) {
  return parameter.name.ends_with(".bias") || parameter.rank == 1 ||
         (options.skip_embedding_weight_decay &&
          parameter.name.find("embedding") != std::string_view::npos);
}

}  // namespace

ParameterGroupOptions make_parameter_group_options(const config::OptimizerConfig& config) {
  return {.bounds = {.max_lr = config.lr, .min_lr = config.min_lr},
          .decoupled_lr = config.decoupled_lr,
          .decoupled_min_lr = config.decoupled_min_lr,
          .skip_embedding_weight_decay = config.no_weight_decay_on_embedding};
}

ParameterGroupKey parameter_group_key(const ParameterTraits& parameter,
                                      const ParameterGroupOptions& options) {
  return {.wd_mult = skips_weight_decay(parameter, options) ? 0.0 : 1.0,
          .lr_mult = parameter.scale_lr ? options.head_lr_mult : 1.0,
          .is_expert = parameter.is_expert,
          .is_decoupled_lr = options.decoupled_lr.has_value() && parameter.is_embedding_or_output};
}

LrBounds group_bounds(const ParameterGroupKey& key, const ParameterGroupOptions& options) {
  if (!key.is_decoupled_lr) {
    return options.bounds;
  }
  const LrBounds bounds{.max_lr = options.decoupled_lr.value(),
                        .min_lr = options.decoupled_min_lr.value_or(options.bounds.min_lr)};
  if (!(bounds.max_lr >= bounds.min_lr)) {
    throw_usage("--decoupled-lr {} is below its minimum {}: lower --decoupled-min-lr",
                bounds.max_lr, bounds.min_lr);
  }
  return bounds;
}

}  // namespace mpitron::optim

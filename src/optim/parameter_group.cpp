// Forms groups of parameters by what decides their update: weight decay, learning rate (muP,
// heads), rule. Patterns of names are the reference's.
#include "optim/parameter_group.h"

#include "utils/error.h"

namespace mpitron::optim {
namespace {

bool skips_weight_decay(const ParameterTraits& parameter, const ParameterGroupOptions& options) {
  return parameter.name.ends_with(".bias") || parameter.rank == 1 ||
         (options.skip_embedding_weight_decay &&
          parameter.name.find("embedding") != std::string_view::npos);
}

bool is_decoupled(const ParameterTraits& parameter, const ParameterGroupOptions& options) {
  return options.decoupled_lr.has_value() && parameter.is_embedding_or_output;
}

bool takes_matrix_rule(const ParameterTraits& parameter, config::OptimizerKind optimizer) {
  return takes_matrices(optimizer) && parameter.rank == 2 && !parameter.is_embedding_or_output;
}

/// Returns muP's factor on the bounds of the learning rate. Embeddings, also of positions, and the
/// output layer are vectors to it: one of their dimensions does not grow with the width.
double mup_factor(const ParameterTraits& parameter, const ParameterGroupOptions& options) {
  if (is_decoupled(parameter, options)) {
    return 1;
  }
  const bool vector = parameter.rank == 1 || parameter.is_embedding_or_output ||
                      parameter.name.find("embedding") != std::string_view::npos;
  if (options.optimizer == config::OptimizerKind::sgd) {
    return vector ? options.mup_width : 1;
  }
  const bool muons = options.optimizer == config::OptimizerKind::muon &&
                     takes_matrix_rule(parameter, options.optimizer);
  return vector || muons ? 1 : 1 / options.mup_width;
}

}  // namespace

bool takes_matrices(config::OptimizerKind optimizer) {
  using enum config::OptimizerKind;
  return optimizer == muon || optimizer == lion || optimizer == soap;
}

ParameterGroupOptions make_parameter_group_options(const config::OptimizerConfig& config) {
  return {.bounds = {.max_lr = config.lr, .min_lr = config.min_lr},
          .decoupled_lr = config.decoupled_lr,
          .decoupled_min_lr = config.decoupled_min_lr,
          .head_lr_mult = config.head_lr_mult,
          .skip_embedding_weight_decay = config.no_weight_decay_on_embedding,
          .optimizer = config.optimizer,
          .mup_width = config.mup_width};
}

ParameterGroupKey parameter_group_key(const ParameterTraits& parameter,
                                      const ParameterGroupOptions& options) {
  const double factor = mup_factor(parameter, options);
  const bool scales_eps = options.optimizer == config::OptimizerKind::adam;
  return {.wd_mult = skips_weight_decay(parameter, options) ? 0.0 : 1.0,
          .lr_mult = parameter.scale_lr ? options.head_lr_mult : 1.0,
          .is_expert = parameter.is_expert,
          .is_decoupled_lr = is_decoupled(parameter, options),
          .bounds_mult = factor,
          .eps_mult = scales_eps ? factor : 1.0,
          .takes_matrix_rule = takes_matrix_rule(parameter, options.optimizer)};
}

config::OptimizerKind update_rule(const config::OptimizerConfig& config,
                                  const ParameterGroupKey& group) {
  using enum config::OptimizerKind;
  if (config.optimizer == muon && !group.takes_matrix_rule) {
    return config.muon.lion_beside ? lion : adam;
  }
  return takes_matrices(config.optimizer) && !group.takes_matrix_rule ? adam : config.optimizer;
}

LrBounds group_bounds(const ParameterGroupKey& key, const ParameterGroupOptions& options) {
  if (!key.is_decoupled_lr) {
    return {.max_lr = options.bounds.max_lr * key.bounds_mult,
            .min_lr = options.bounds.min_lr * key.bounds_mult};
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

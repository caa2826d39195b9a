#pragma once
#include <compare>
#include <optional>
#include <string_view>

#include "optim/learning_rate_schedule.h"

namespace mpitron::optim {

/// Traits that the grouping looks at.
struct ParameterTraits {
  std::string_view name;                // full name, `decoder.layers.0.mlp.linear_fc1.bias`
  int rank = 2;                         // dimensions of the whole, unsplit tensor
  bool is_expert = false;               // reduced over the expert data parallel group
  bool is_embedding_or_output = false;  // word embedding or output layer, for --decoupled-lr
  bool scale_lr = false;                // head of a classifier: takes --head-lr-mult
};

struct ParameterGroupOptions {
  LrBounds bounds;  // --lr, --min-lr
  std::optional<double> decoupled_lr = std::nullopt;
  std::optional<double> decoupled_min_lr = std::nullopt;
  double head_lr_mult = 1.0;
  bool skip_embedding_weight_decay = false;  // --embedding-init-method-std is given
  config::OptimizerKind optimizer = config::OptimizerKind::adam;
  double mup_width = 1;  // --use-mup
};

/// The options of the grouping.
ParameterGroupOptions make_parameter_group_options(const config::OptimizerConfig& config);

/// Parameters with equal keys form one optimizer group; the order of the keys is the order of the
/// groups.
struct ParameterGroupKey {
  double wd_mult = 1.0;
  double lr_mult = 1.0;
  bool is_expert = false;
  bool is_decoupled_lr = false;
  double bounds_mult = 1.0;  // of muP, which leaves the start of a warm-up as it is
  double eps_mult = 1.0;
  bool takes_matrix_rule = false;  // of Muon, Lion or SOAP
  auto operator<=>(const ParameterGroupKey&) const = default;
};

/// The rule of the reference (_get_param_groups): no weight decay for names ending in `.bias`, for
/// 1-D tensors, and for names with `embedding` where the option asks for it. Muon, Lion and SOAP
/// take matrices that are neither embedding nor output layer. With muP (Yang et al. 2022, Table 8)
/// Adam's rate and eps of these and larger tensors are divided by the width, SGD's rates of
/// vectors, embeddings and the output layer multiplied.
ParameterGroupKey parameter_group_key(const ParameterTraits& parameter,
                                      const ParameterGroupOptions& options);

/// Whether a rule takes matrices between the layers alone.
bool takes_matrices(config::OptimizerKind optimizer);

/// How parameters of a group are updated: what such a rule leaves is Adam's, or beside Muon Lion's.
config::OptimizerKind update_rule(const config::OptimizerConfig& config,
                                  const ParameterGroupKey& group);

/// Learning rate bounds of a group: those of --decoupled-lr for a decoupled one, else muP's.
LrBounds group_bounds(const ParameterGroupKey& key, const ParameterGroupOptions& options);

}  // namespace mpitron::optim

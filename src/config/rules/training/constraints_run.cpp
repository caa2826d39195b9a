#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules on optimizer constants, checks, and what a run tells and is asked.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result optimizer_constants(const Facts& f) {
  const OptimizerConfig& o = f.run.optimizer;
  const auto fraction = [](double x) { return x >= 0 && x < 1; };
  if (fraction(o.adam_beta1) && fraction(o.adam_beta2) && o.adam_eps > 0 &&
      fraction(o.sgd_momentum) && o.clip_grad >= 0 && o.weight_decay >= 0) {
    return {};
  }
  return Violation{
      fmt::format("betas {} {}, eps {}, momentum {}, clip {}, decay {}", o.adam_beta1, o.adam_beta2,
                  o.adam_eps, o.sgd_momentum, o.clip_grad, o.weight_decay),
      ""};
}

Result deterministic_kernels(const Facts& f) {
  if (!f.run.training.deterministic_mode ||
      (f.run.model.attention_backend != AttentionBackend::flash &&
       !f.run.model.cross_entropy_loss_fusion)) {
    return {};
  }
  return Violation{"flash attention or fused cross entropy is asked for",
                   "--attention-backend unfused"};
}

Result metrics_port(const Facts& f) {
  constexpr Index kLastPort = 65535;
  const std::optional<Index> port = f.run.logging.metrics_port;
  if (!port) {
    return f.values.given("metrics_address")
               ? Result(Violation{"--metrics-address without --metrics-port", "--metrics-port 0"})
               : Result();
  }
  return *port >= 0 && *port <= kLastPort
             ? Result()
             : Violation{fmt::format("metrics_port = {}", *port), "--metrics-port 0"};
}

Result profiled_steps(const Facts& f) {
  const TrainingConfig& t = f.run.training;
  return t.profile && t.profile_step_end <= t.profile_step_start
             ? Violation{fmt::format("{} <= {}", t.profile_step_end, t.profile_step_start), ""}
             : Result();
}

Result autoresume_folder(const Facts& f) {
  return f.run.training.autoresume_interval && !f.run.checkpoint.save
             ? Violation{"--save is not given", "--save DIR"}
             : Result();
}

constexpr std::array kRunRules = std::to_array<Constraint>({
    {"E054", "optimizer_constants",
     "0 <= betas, momentum < 1; adam_eps > 0; clip_grad, weight_decay >= 0",
     "adam-beta1 adam-beta2 adam-eps sgd-momentum clip-grad weight-decay",
     "Other values make the update diverge.", optimizer_constants},
    {"E065", "deterministic_kernels",
     "--deterministic-mode excludes flash attention and fused cross entropy",
     "deterministic-mode attention-backend cross-entropy-loss-fusion",
     "The reference's versions of these kernels are not deterministic.", deterministic_kernels},
    {"E066", "profiled_steps", "profile_step_end > profile_step_start",
     "profile-step-start profile-step-end", "At least one step is profiled.", profiled_steps},
    {"E067", "metrics_port", "0 <= metrics_port <= 65535; --metrics-address needs it",
     "metrics-port metrics-address", "Rank 0 listens at one port; 0 lets the system choose it.",
     metrics_port},
    {"E161", "autoresume_folder", "--adlr-autoresume needs --save", "adlr-autoresume save",
     "The request is a file in that folder, and a run that resumes needs a checkpoint.",
     autoresume_folder},
});

}  // namespace

std::span<const Constraint> run_constraints() {
  return kRunRules;
}

}  // namespace mpitron::config

#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/global_batch_size.h"
#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"

// Rules on the length of a run, optimizer constants and checks.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result one_length_mode(const Facts& f) {
  const bool iterations = f.values.has("train_iters");
  const bool samples = f.values.has("train_samples");
  if (iterations != samples || (!iterations && f.run.training.skip_train)) {
    return {};
  }
  return Violation{iterations ? "both are given" : "neither is given", "--train-iters N"};
}

/// Converts the flags of a run with a ramp-up whose lengths are in iterations to samples: the
/// nearest legal command line.
std::string lengths_in_samples(const Facts& f) {
  std::string flags;
  for (const auto& [iterations, samples] : {std::pair{"train_iters", "--train-samples"},
                                            {"lr_decay_iters", "--lr-decay-samples"},
                                            {"lr_warmup_iters", "--lr-warmup-samples"},
                                            {"lr_wsd_decay_iters", "--lr-wsd-decay-samples"}}) {
    if (f.values.given(iterations)) {
      const Index count = f.values.maybe_integer(iterations).value_or(0);
      flags += fmt::format("{}{} {}", flags.empty() ? "" : " ", samples,
                           samples_of_iterations(f.run.training, count));
    }
  }
  return flags + " in place of the same lengths in iterations, or no --rampup-batch-size";
}

/// Lengths of a run in iterations exclude those in samples, and a ramp-up, which needs samples.
Result iteration_mode(const Facts& f) {
  if (!f.values.given("train_iters")) {
    return {};
  }
  const std::string names = given_among(f.values, {"lr_decay_samples", "lr_warmup_samples",
                                                   "lr_wsd_decay_samples", "rampup_batch_size"});
  Result violation = given_violation(names);
  if (violation && f.run.training.rampup_batch_size) {
    violation->nearest = lengths_in_samples(f);
  }
  return violation;
}

Result sample_mode(const Facts& f) {
  if (!f.values.given("train_samples")) {
    return {};
  }
  return given_violation(
      given_among(f.values, {"lr_decay_iters", "lr_warmup_iters", "lr_wsd_decay_iters"}));
}

/// Counts of steps must be above 0; those of workers, warm-up and evaluation may be 0.
Result positive_length(const Facts& f) {
  std::vector<std::string> bad;
  for (const char* dest : {"train_iters", "train_samples", "log_interval",
                           "tensorboard_log_interval", "exit_interval", "exit_duration_in_mins",
                           "adlr_autoresume_interval", "lr_decay_iters", "lr_decay_samples"}) {
    if (f.values.maybe_integer(dest).value_or(1) <= 0) {
      bad.push_back(fmt::format("{} = {}", dest, f.values.text(dest)));
    }
  }
  for (const char* dest : {"eval_iters", "eval_interval", "num_workers", "lr_warmup_iters",
                           "lr_warmup_samples", "error_injection_rate"}) {
    if (f.values.maybe_integer(dest).value_or(0) < 0) {
      bad.push_back(fmt::format("{} = {}", dest, f.values.text(dest)));
    }
  }
  return bad.empty() ? Result() : Violation{fmt::format("{}", fmt::join(bad, ", ")), ""};
}

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
    {"E040", "one_length_mode", "--train-iters or --train-samples, exactly one",
     "train-iters train-samples", "A run counts either optimizer steps or sequences.",
     one_length_mode},
    {"E041", "iteration_mode", "--train-iters goes with lengths in iterations and without ramp-up",
     "train-iters lr-decay-samples lr-warmup-samples lr-wsd-decay-samples rampup-batch-size",
     "With a growing batch the samples of an iteration are not constant: count samples then.",
     iteration_mode},
    {"E042", "sample_mode", "--train-samples goes with lengths in samples",
     "train-samples lr-decay-iters lr-warmup-iters lr-wsd-decay-iters",
     "Lengths in iterations would have to be converted by a batch size that may change.",
     sample_mode},
    {"E043", "positive_length",
     "lengths and intervals are at least 1, counts of evaluations and warm-up at least 0",
     "train-iters train-samples log-interval eval-iters eval-interval exit-interval "
     "error-injection-rate adlr-autoresume-interval",
     "They count steps.", positive_length},
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

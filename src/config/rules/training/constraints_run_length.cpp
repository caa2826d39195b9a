#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/global_batch_size.h"
#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"

// Rules on the length of a run: whether it counts iterations or samples, and how many.

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

constexpr std::array kRunLengthRules = std::to_array<Constraint>({
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
});

}  // namespace

std::span<const Constraint> run_length_constraints() {
  return kRunLengthRules;
}

}  // namespace mpitron::config

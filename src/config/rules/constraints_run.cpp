#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/global_batch_size.h"
#include "config/rules/constraint.h"

// Rules on the length of a run, batches, schedules, optimizer constants and checks.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Returns the names of the options among `dests` that the user gave a value other than 0.
std::string given_among(const OptionValues& v, std::initializer_list<const char*> dests) {
  std::vector<std::string> names;
  for (const char* dest : dests) {
    if (v.given(dest) && v.maybe_integer(dest).value_or(1) != 0) {
      const OptionIndex& index = option_index();
      names.push_back(fmt::format("--{}", index.option(index.slot_of_dest(dest)).name));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Options that are given and may not be are the whole violation.
Result given_violation(const std::string& names) {
  return names.empty() ? Result() : Violation{names + " given", ""};
}

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

/// A step is whole micro-batches on every data rank.
Result batch_divides(const Facts& f) {
  const TrainingConfig& t = f.run.training;
  const Index unit = t.micro_batch_size * f.run.parallel.data_parallel_size;
  if (unit <= 0 || t.global_batch_size <= 0 || t.decrease_batch_size_if_needed ||
      t.global_batch_size % unit == 0) {
    return {};
  }
  return Violation{fmt::format("{} % ({} * {}) = {}", t.global_batch_size, t.micro_batch_size,
                               f.run.parallel.data_parallel_size, t.global_batch_size % unit),
                   nearest_multiples("global-batch-size", t.global_batch_size, unit)};
}

Result rampup_words(const Facts& f) {
  if (!f.values.has("rampup_batch_size")) {
    return {};
  }
  const std::vector<std::string> words = f.values.words("rampup_batch_size");
  const bool numbers = std::all_of(words.begin(), words.end(), [](const std::string& w) {
    return read_integer(w).value_or(0) > 0;
  });
  if (words.size() == 3 && numbers) {
    return {};
  }
  return Violation{fmt::format("'{}'", fmt::join(words, " ")),
                   "--rampup-batch-size START INCREMENT SAMPLES"};
}

/// The ramp reaches the full batch exactly.
Result rampup_increment(const Facts& f) {
  const TrainingConfig& t = f.run.training;
  if (!t.rampup_batch_size || t.rampup_batch_size->increment <= 0) {
    return {};
  }
  const Index rest = t.global_batch_size - t.rampup_batch_size->start;
  if (rest >= 0 && rest % t.rampup_batch_size->increment == 0) {
    return {};
  }
  return Violation{
      fmt::format("({} - {}) % {} = {}", t.global_batch_size, t.rampup_batch_size->start,
                  t.rampup_batch_size->increment, rest % t.rampup_batch_size->increment),
      ""};
}

Result rampup_divides(const Facts& f) {
  const TrainingConfig& t = f.run.training;
  const Index unit = t.micro_batch_size * f.run.parallel.data_parallel_size;
  if (!t.rampup_batch_size || unit <= 0 || t.decrease_batch_size_if_needed) {
    return {};
  }
  const auto [start, increment, samples] = *t.rampup_batch_size;
  if (start % unit == 0 && increment % unit == 0) {
    return {};
  }
  return Violation{fmt::format("{} % {} = {}, {} % {} = {}", start, unit, start % unit, increment,
                               unit, increment % unit),
                   "--decrease-batch-size-if-needed"};
}

/// 0 <= min_lr <= lr, and a warm-up that begins not above lr.
Result rate_order(const Facts& f) {
  const OptimizerConfig& o = f.run.optimizer;
  if (!f.values.has("lr")) {
    return f.run.training.skip_train ? Result() : Violation{"--lr is missing", "--lr 3e-4"};
  }
  if (o.lr >= o.min_lr && o.min_lr >= 0 && o.lr_warmup_init >= 0 && o.lr_warmup_init <= o.lr) {
    return {};
  }
  return Violation{
      fmt::format("lr {}, min_lr {}, lr_warmup_init {}", o.lr, o.min_lr, o.lr_warmup_init), ""};
}

Result one_warmup(const Facts& f) {
  if (!f.values.has("lr_warmup_fraction")) {
    return {};
  }
  return given_violation(given_among(f.values, {"lr_warmup_iters", "lr_warmup_samples"}));
}

/// Steps are samples here, whichever unit was given.
Result warmup_before_decay(const Facts& f) {
  const OptimizerConfig& o = f.run.optimizer;
  if (o.lr_decay_steps <= 0 || o.lr_warmup_steps < static_cast<double>(o.lr_decay_steps)) {
    return {};
  }
  return Violation{fmt::format("{} >= {} samples", o.lr_warmup_steps, o.lr_decay_steps),
                   "--lr-warmup-fraction 0.01"};
}

Result last_phase(const Facts& f) {
  const OptimizerConfig& o = f.run.optimizer;
  if (o.lr_decay_style != LrDecayStyle::wsd || o.lr_decay_steps <= 0 ||
      (o.lr_wsd_decay_steps > 0 && o.lr_wsd_decay_steps <= o.lr_decay_steps)) {
    return {};
  }
  const bool samples = f.values.has("train_samples");
  return Violation{fmt::format("{} of {} samples", o.lr_wsd_decay_steps, o.lr_decay_steps),
                   fmt::format("--lr-wsd-decay-{} N", samples ? "samples" : "iters")};
}

/// A constant decay takes no ends; a growing one needs both, in order.
Result decay_schedule(const Facts& f) {
  const OptimizerConfig& o = f.run.optimizer;
  const bool start = f.values.given("start_weight_decay");
  const bool end = f.values.given("end_weight_decay");
  const bool constant = o.weight_decay_incr_style == WeightDecayIncrStyle::constant;
  if (constant ? !start && !end
               : start && end && o.start_weight_decay >= 0 &&
                     o.end_weight_decay >= o.start_weight_decay) {
    return {};
  }
  return Violation{
      fmt::format("{} style, start {}, end {}", f.values.text("weight_decay_incr_style"),
                  f.values.maybe_text("start_weight_decay").value_or("missing"),
                  f.values.maybe_text("end_weight_decay").value_or("missing")),
      constant ? "--weight-decay-incr-style linear"
               : "--start-weight-decay 0.01 --end-weight-decay 0.1"};
}

Result decoupled_rate(const Facts& f) {
  const OptimizerConfig& o = f.run.optimizer;
  if (f.values.given("decoupled_min_lr") && !o.decoupled_lr) {
    return Violation{"--decoupled-lr is missing", fmt::format("--decoupled-lr {}", o.lr)};
  }
  if (o.decoupled_lr && *o.decoupled_lr < o.decoupled_min_lr.value_or(0)) {
    return Violation{fmt::format("{} < {}", *o.decoupled_lr, *o.decoupled_min_lr), ""};
  }
  return {};
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

}  // namespace

std::span<const Constraint> run_constraints() {
  static constexpr std::array kRules = std::to_array<Constraint>({
      {"E040", "one_length_mode", "--train-iters or --train-samples, exactly one",
       "train-iters train-samples", "A run counts either optimizer steps or sequences.",
       one_length_mode},
      {"E041", "iteration_mode",
       "--train-iters goes with lengths in iterations and without ramp-up",
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
      {"E044", "batch_divides", "global_batch_size % (micro_batch_size * data_parallel_size) == 0",
       "global-batch-size micro-batch-size world-size",
       "Every replica runs the same number of micro batches. --decrease-batch-size-if-needed "
       "rounds down instead.",
       batch_divides},
      {"E045", "rampup_words", "--rampup-batch-size takes three positive integers",
       "rampup-batch-size",
       "The first batch size, the increment, and the samples over which the full batch size is "
       "reached.",
       rampup_words},
      {"E046", "rampup_increment",
       "(global_batch_size - START) % INCREMENT == 0 and START <= global_batch_size",
       "rampup-batch-size global-batch-size", "The ramp must end at the full batch size.",
       rampup_increment},
      {"E047", "rampup_divides",
       "START and INCREMENT are multiples of micro_batch_size * data_parallel_size",
       "rampup-batch-size micro-batch-size",
       "Every batch of the ramp is cut into whole micro batches.", rampup_divides},
      {"E048", "rate_order", "lr >= min_lr >= 0 and 0 <= lr_warmup_init <= lr",
       "lr min-lr lr-warmup-init",
       "The schedule rises from lr_warmup_init to lr and falls to min_lr.", rate_order},
      {"E049", "one_warmup",
       "--lr-warmup-fraction excludes --lr-warmup-iters and --lr-warmup-samples",
       "lr-warmup-fraction lr-warmup-iters lr-warmup-samples", "There is one warm-up length.",
       one_warmup},
      {"E050", "warmup_before_decay", "warm-up is shorter than the decay",
       "lr-warmup-iters lr-warmup-samples lr-warmup-fraction lr-decay-iters lr-decay-samples",
       "The decay counts from the first step and includes the warm-up.", warmup_before_decay},
      {"E051", "last_phase", "--lr-decay-style WSD needs a last phase no longer than the decay",
       "lr-decay-style lr-wsd-decay-iters lr-wsd-decay-samples",
       "Warm-up, stable rate, then a decay of that length.", last_phase},
      {"E052", "decay_schedule",
       "constant: no start and end; else 0 <= start_weight_decay <= end_weight_decay",
       "weight-decay-incr-style start-weight-decay end-weight-decay",
       "A constant decay is --weight-decay; a growing one needs both ends.", decay_schedule},
      {"E053", "decoupled_rate", "--decoupled-min-lr needs --decoupled-lr, which is not smaller",
       "decoupled-lr decoupled-min-lr",
       "They replace lr and min-lr for embedding and output matrix.", decoupled_rate},
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
  return kRules;
}

}  // namespace mpitron::config

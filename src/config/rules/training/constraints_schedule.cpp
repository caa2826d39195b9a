#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"

// Rules of the learning rate over a run.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

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

constexpr std::array kScheduleRules = std::to_array<Constraint>({
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
     "decoupled-lr decoupled-min-lr", "They replace lr and min-lr for embedding and output matrix.",
     decoupled_rate},
});

}  // namespace

std::span<const Constraint> schedule_constraints() {
  return kScheduleRules;
}

}  // namespace mpitron::config

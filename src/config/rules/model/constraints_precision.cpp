#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules of types and of what is computed again.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result one_half_precision(const Facts& f) {
  return f.run.optimizer.fp16 && f.run.optimizer.bf16 ? Violation{"both are given", "--bf16"}
                                                      : Result();
}

Result half_cross_entropy(const Facts& f) {
  return f.run.model.fp16_lm_cross_entropy && !f.run.optimizer.fp16
             ? Violation{"--fp16 is not given", "--fp16"}
             : Result();
}

Result wide_residual(const Facts& f) {
  return f.run.model.fp32_residual_connection && !f.run.optimizer.fp16 && !f.run.optimizer.bf16
             ? Violation{"the model is fp32 already", "--bf16 | --fp16"}
             : Result();
}

Result loss_scales(const Facts& f) {
  const OptimizerConfig& o = f.run.optimizer;
  if (o.loss_scale.value_or(1) > 0 && o.min_loss_scale > 0 &&
      o.initial_loss_scale >= o.min_loss_scale && o.loss_scale_window >= 1 && o.hysteresis >= 1) {
    return {};
  }
  return Violation{fmt::format("loss scale {}, initial {}, min {}, window {}, hysteresis {}",
                               o.loss_scale.value_or(1), o.initial_loss_scale, o.min_loss_scale,
                               o.loss_scale_window, o.hysteresis),
                   ""};
}

Result full_recompute(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (m.recompute_granularity != RecomputeGranularity::full) {
    return {};
  }
  const bool counted =
      m.recompute_num_layers >= 1 && m.recompute_num_layers <= std::max<Index>(1, m.num_layers);
  if (m.recompute_method != RecomputeMethod::none && counted) {
    return {};
  }
  return Violation{fmt::format("method {}, layers {} of {}",
                               f.values.maybe_text("recompute_method").value_or("missing"),
                               m.recompute_num_layers, m.num_layers),
                   "--recompute-method uniform --recompute-num-layers 1"};
}

Result selective_recompute(const Facts& f) {
  if (f.run.model.recompute_granularity != RecomputeGranularity::selective ||
      (!f.values.has("recompute_method") && !f.values.has("recompute_num_layers"))) {
    return {};
  }
  return Violation{"--recompute-method or --recompute-num-layers is given",
                   "--recompute-granularity full"};
}

constexpr std::array kPrecisionRules = std::to_array<Constraint>({
    {"E030", "one_half_precision", "--fp16 or --bf16, not both", "fp16 bf16",
     "Parameters have one type.", one_half_precision},
    {"E031", "half_cross_entropy", "--fp16-lm-cross-entropy needs --fp16",
     "fp16-lm-cross-entropy fp16", "It keeps the logits in the type of an fp16 model.",
     half_cross_entropy},
    {"E032", "wide_residual", "--fp32-residual-connection needs --fp16 or --bf16",
     "fp32-residual-connection fp16 bf16",
     "Only a half-precision model has a narrower residual stream.", wide_residual},
    {"E033", "loss_scales",
     "0 < min_loss_scale <= initial_loss_scale, loss_scale > 0, window >= 1, hysteresis >= 1",
     "loss-scale initial-loss-scale min-loss-scale loss-scale-window hysteresis",
     "The scale is halved after `hysteresis` overflows and doubled after `window` clean steps.",
     loss_scales},
    {"E034", "full_recompute",
     "--recompute-granularity full needs --recompute-method and 1 <= recompute_num_layers <= "
     "num_layers",
     "recompute-granularity recompute-method recompute-num-layers",
     "uniform recomputes groups of that many layers, block the first that many layers of each "
     "stage.",
     full_recompute},
    {"E035", "selective_recompute",
     "--recompute-granularity selective takes no method and no layer count",
     "recompute-granularity recompute-method recompute-num-layers",
     "It recomputes the parts named by --recompute-modules in every layer.", selective_recompute},
});

}  // namespace

std::span<const Constraint> precision_constraints() {
  return kPrecisionRules;
}

}  // namespace mpitron::config

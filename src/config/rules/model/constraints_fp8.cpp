#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"

// Rules of products with factors of 8 bits: types, scales, layers, and options that would do
// nothing.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Collects the names of options whose values are not their defaults.
struct Given {
  const OptionValues& values;
  std::vector<std::string> names = {};

  void add(bool given, const char* name) {
    if (given) {
      names.emplace_back(name);
    }
  }
  void add_delayed_scaling() {
    add(values.integer("fp8_margin") != 0, "--fp8-margin");
    add(values.integer("fp8_amax_history_len") != 1, "--fp8-amax-history-len");
    add(values.text("fp8_amax_compute_algo") != "most_recent", "--fp8-amax-compute-algo");
  }
  Result broken(const char* nearest) const {
    return names.empty() ? Result()
                         : Violation{fmt::format("given: {}", fmt::join(names, ", ")), nearest};
  }
};

Result working_type(const Facts& f) {
  return f.run.model.fp8 && f.run.model.params_dtype != DType::bf16
             ? Violation{fmt::format("the run is in {}", name_of(f.run.model.params_dtype)),
                         "--bf16"}
             : Result();
}

Result scale_sizes(const Facts& f) {
  const std::optional<Fp8Config>& fp8 = f.run.model.fp8;
  constexpr Index kMostMargin = 64;
  if (!fp8 || (fp8->margin >= 0 && fp8->margin <= kMostMargin && fp8->amax_history >= 1)) {
    return {};
  }
  return Violation{fmt::format("margin {}, {} steps", fp8->margin, fp8->amax_history),
                   "--fp8-margin 0 --fp8-amax-history-len 1"};
}

Result whole_tensors(const Facts& f) {
  const bool of_tensors = f.run.model.fp8 && f.run.model.fp8->recipe == Fp8Recipe::tensorwise;
  return of_tensors && f.run.model.tp_comm_overlap
             ? Violation{"products run on pieces of the sequence", "--fp8-recipe delayed"}
             : Result();
}

Result bf16_layers(const Facts& f) {
  const std::optional<Fp8Config>& fp8 = f.run.model.fp8;
  const Index layers = f.run.model.all_layers();
  if (!fp8 || (fp8->first_bf16_layers >= 0 && fp8->last_bf16_layers >= 0 &&
               fp8->first_bf16_layers + fp8->last_bf16_layers < std::max<Index>(layers, 1))) {
    return {};
  }
  return Violation{
      fmt::format("{} + {} of {} layers", fp8->first_bf16_layers, fp8->last_bf16_layers, layers),
      "--num-layers-at-start-in-bf16 1 --num-layers-at-end-in-bf16 1"};
}

Result options_with_a_meaning(const Facts& f) {
  Given given{f.values};
  const std::optional<Fp8Config>& fp8 = f.run.model.fp8;
  if (!fp8) {
    given.add(f.values.text("fp8_recipe") != "delayed", "--fp8-recipe");
    given.add(!f.values.flag("fp8_wgrad"), "--no-fp8-wgrad");
    given.add(f.values.flag("first_last_layers_bf16"), "--first-last-layers-bf16");
    given.add(f.values.flag("moe_router_padding_for_fp8"), "--moe-router-padding-for-fp8");
    given.add_delayed_scaling();
    return given.broken("--fp8-format hybrid");
  }
  if (fp8->recipe != Fp8Recipe::delayed) {
    given.add_delayed_scaling();
  }
  return given.broken("--fp8-recipe delayed");
}

}  // namespace

std::span<const Constraint> fp8_constraints() {
  static constexpr auto kRules = std::to_array<Constraint>({
      {"E187", "fp8_working_type", "--fp8-format needs --bf16", "fp8-format bf16",
       "Factors of 8 bits are made from bf16 tensors, and products are rounded to bf16.",
       working_type},
      {"E189", "fp8_scale_sizes", "0 <= fp8_margin <= 64, fp8_amax_history_len >= 1",
       "fp8-margin fp8-amax-history-len",
       "A scale is 2^-margin times the largest 8-bit number over a value of the history.",
       scale_sizes},
      {"E192", "fp8_whole_tensors", "--fp8-recipe tensorwise excludes --tp-comm-overlap",
       "fp8-recipe tp-comm-overlap",
       "The largest value of a tensor is not known while its pieces are on their way.",
       whole_tensors},
      {"E193", "fp8_bf16_layers", "0 <= layers in bf16 at start + at end < num_layers",
       "first-last-layers-bf16 num-layers-at-start-in-bf16 num-layers-at-end-in-bf16 num-layers",
       "At least one layer has products in 8 bits.", bf16_layers},
      {"E194", "fp8_options",
       "fp8 options need --fp8-format, those of histories --fp8-recipe delayed",
       "fp8-format fp8-recipe fp8-margin fp8-amax-history-len fp8-amax-compute-algo no-fp8-wgrad "
       "first-last-layers-bf16 moe-router-padding-for-fp8",
       "Without products in 8 bits, or with scales of the tensors themselves, they would do "
       "nothing.",
       options_with_a_meaning},
  });
  return kRules;
}

}  // namespace mpitron::config

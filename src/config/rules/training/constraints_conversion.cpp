#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"

// Rules of checkpoints that a run converts or grows: dense weights become experts.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result conversion(const Facts& f) {
  const bool format = f.values.maybe_text("ckpt_convert_format").has_value();
  const bool save = f.values.maybe_text("ckpt_convert_save").has_value();
  if (!format && !save) {
    return {};
  }
  const bool loads = f.run.checkpoint.load || f.run.checkpoint.pretrained_checkpoint;
  return format && save && loads
             ? Result()
             : Violation{!loads ? "nothing is loaded" : "only one of the two is given",
                         "--load FOLDER --ckpt-convert-format torch_dist --ckpt-convert-save DIR"};
}

/// Checks that a dense model is loaded, cut into experts and saved, and that nothing else is asked
/// for.
Result upcycling(const Facts& f) {
  const CheckpointConfig& c = f.run.checkpoint;
  if (!c.upcycling_granularity) {
    return {};
  }
  if (!f.run.model.moe) {
    return Violation{"the model has no experts", "--num-experts N"};
  }
  if (f.run.model.vlm) {
    return Violation{"the model sees images", "--model gpt"};
  }
  if (!c.save || (!c.load && !c.pretrained_checkpoint)) {
    return Violation{c.save ? "nothing is loaded" : "nothing is saved",
                     "--load DENSE --save FOLDER"};
  }
  if (c.save == c.load) {
    return Violation{"--load and --save name the same folder", "--save FOLDER"};
  }
  const std::string name =
      first_given(f.values, {"load_main_params_from_ckpt", "ckpt_convert_format", "async_save"});
  return name.empty() ? Result() : Violation{name + " is given", "leave out " + name};
}

Result upcycled_experts(const Facts& f) {
  if (!f.run.checkpoint.upcycling_granularity || !f.run.model.moe) {
    return {};
  }
  const Index experts = f.run.model.moe->num_experts,
              parts = *f.run.checkpoint.upcycling_granularity;
  const std::string nearest = nearest_divisors("moe-upcycling-granularity", experts, parts);
  return parts < 1 ? Violation{fmt::format("{} parts", parts), "--moe-upcycling-granularity 1"}
                   : divides(experts, parts, nearest);
}

constexpr std::array kConversionRules = std::to_array<Constraint>({
    {"E118", "conversion", "--ckpt-convert-format, --ckpt-convert-save and --load come together",
     "ckpt-convert-format ckpt-convert-save load", "What is loaded is written to DIR/FORMAT.",
     conversion},
    {"E173", "upcycling", "--moe-use-upcycling needs --num-experts, --load and another --save",
     "moe-use-upcycling num-experts load save load-main-params-from-ckpt ckpt-convert-format "
     "async-save",
     "A dense checkpoint is loaded, turned into experts and saved; then the run ends.", upcycling},
    {"E174", "upcycled_experts", "num_experts % moe_upcycling_granularity == 0",
     "moe-upcycling-granularity num-experts moe-use-upcycling",
     "Every dense layer is cut into so many experts, and all parts have as many copies.",
     upcycled_experts},
});

}  // namespace

std::span<const Constraint> conversion_constraints() {
  return kConversionRules;
}

}  // namespace mpitron::config

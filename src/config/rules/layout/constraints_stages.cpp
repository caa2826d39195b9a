#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"

// Rules of stages that differ: uneven ones, what counts as a layer, and layouts as texts.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// The stages between share what the first and the last leave.
Result uneven_stages(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  if (!has_uneven_stages(p)) {
    return {};
  }
  const Index ends = p.decoder_first_pipeline_num_layers.has_value() +
                     p.decoder_last_pipeline_num_layers.has_value();
  const Index layers = f.run.model.all_layers() - p.decoder_first_pipeline_num_layers.value_or(0) -
                       p.decoder_last_pipeline_num_layers.value_or(0);
  const Index stages = p.pipeline_model_parallel_size - ends;
  if (p.pipeline_model_parallel_size < 2 || layers < 0 || stages < 0 ||
      (stages == 0 && layers != 0)) {
    return Violation{fmt::format("{} layers remain for {} stages", layers, stages), ""};
  }
  return stages == 0 ? Result() : divides(layers, stages, "");
}

/// Embedding and loss count as a layer each, in the split and for each chunk.
Result accounted_split(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  if (!counts_ends_as_layers(p)) {
    return {};
  }
  if (has_uneven_stages(p) || p.pipeline_model_parallel_layout) {
    return Violation{"the split is given explicitly as well", ""};
  }
  const Index blocks = f.run.model.all_layers() + p.account_for_embedding_in_pipeline_split +
                       p.account_for_loss_in_pipeline_split;
  return divides(blocks, p.pipeline_model_parallel_size * chunks_per_rank(p), "");
}

Result layout_alone(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  return p.pipeline_model_parallel_layout && has_uneven_stages(p) ? Violation{"both are given", ""}
                                                                  : Result();
}

constexpr std::array kStageRules = std::to_array<Constraint>({
    {"E082", "uneven_stages", "the layers between first and last stage divide evenly",
     "decoder-first-pipeline-num-layers decoder-last-pipeline-num-layers num-layers "
     "pipeline-model-parallel-size",
     "Only the first and the last stage may differ.", uneven_stages},
    {"E083", "accounted_split",
     "(num_layers + embedding + loss) % (stages * virtual stages) == 0, on an even split",
     "account-for-embedding-in-pipeline-split account-for-loss-in-pipeline-split num-layers",
     "Embedding and loss take the place of a layer.", accounted_split},
    {"E084", "layout_alone", "--pipeline-model-parallel-layout excludes other splits",
     "pipeline-model-parallel-layout decoder-first-pipeline-num-layers "
     "decoder-last-pipeline-num-layers",
     "The layout names the layers of every stage.", layout_alone},
});

}  // namespace

std::span<const Constraint> stage_constraints() {
  return kStageRules;
}

}  // namespace mpitron::config

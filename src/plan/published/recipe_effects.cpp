#include <algorithm>

#include "plan/published/recipes.h"

// Which rows a recipe is for, and what its words change in their configuration.

namespace mpitron::plan {
namespace {

/// An empty list of modules says that nothing is computed again; `full` counts layers from the
/// front of a stage.
void apply_recompute(const Recipe& recipe, PublishedRow& row) {
  config::ModelConfig& model = row.run.model;
  if (recipe.recompute) {
    model.recompute_modules = *recipe.recompute;
    model.recompute_granularity = recipe.recompute->empty()
                                      ? config::RecomputeGranularity::none
                                      : config::RecomputeGranularity::selective;
  }
  if (recipe.full_layers) {
    model.recompute_granularity = config::RecomputeGranularity::full;
    model.recompute_method = config::RecomputeMethod::block;
    model.recompute_num_layers = *recipe.full_layers;
  }
  row.recompute_known = true;
}

/// Fills in the shape of a plain GPT, and the batch, where the table has none.
void apply_shape(const Recipe& recipe, PublishedRow& row) {
  config::ModelConfig& model = row.run.model;
  if (!recipe.shape.empty() && model.num_layers == 0) {
    model.num_layers = recipe.shape[0];
    model.hidden_size = recipe.shape[1];
    model.ffn_hidden_size = 4 * model.hidden_size;
    model.num_attention_heads = model.num_query_groups = recipe.shape[2];
    model.kv_channels = model.hidden_size / model.num_attention_heads;
    model.untie_embeddings_and_output_weights = true;
  }
  Index& batch = row.run.training.global_batch_size;
  batch = batch > 0 ? batch : recipe.batch.value_or(0);
}

/// Fills in microbatch and chunks where the table has none. What does not divide is of another run
/// of the same model.
void apply_layout(const Recipe& recipe, PublishedRow& row) {
  if (!row.layout_known) {
    return;
  }
  const config::ParallelConfig& p = row.run.parallel;
  const Index samples = row.run.training.global_batch_size / p.data_parallel_size;
  if (!row.micro_batch && recipe.micro_batch && samples % *recipe.micro_batch == 0) {
    row.micro_batch = recipe.micro_batch;
  }
  const Index parts = p.pipeline_model_parallel_size * recipe.chunks.value_or(1);
  if (!row.chunks && recipe.chunks && row.run.model.num_layers % parts == 0) {
    row.chunks = recipe.chunks;
  }
}

/// Deals the layers to the stages anew, where the model has other depths than it had.
void apply_depths(Index depths, PublishedRow& row) {
  const bool without = row.options.find("without MTP") != std::string::npos;
  row.run.model.mtp_num_layers = without ? std::nullopt : std::optional(depths);
  config::ParallelConfig& p = row.run.parallel;
  if (row.layout_known && p.pipeline_model_parallel_layout) {
    const bool sequence_parallel = p.sequence_parallel;
    apply(layout_of(row.run), row.run);
    p.sequence_parallel = sequence_parallel;
  }
}

/// An empty list stands for any value.
bool listed(const std::vector<std::string>& list, const std::string& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

/// Returns whether a recipe is for a row. Tables are named so that they sort by
/// release: `since` and `until` compare as texts.
bool fits(const Recipe& recipe, const PublishedRow& row) {
  const bool full =
      row.run.parallel.sharding_strategy == config::ShardingStrategy::optim_grads_params;
  return row.source.starts_with(recipe.source) &&
         (recipe.model.empty() || recipe.model == row.model) &&
         listed(recipe.hardware, row.hardware) && listed(recipe.precision, row.precision) &&
         row.table >= recipe.since && (recipe.until.empty() || row.table < recipe.until) &&
         (recipe.sharding != "full" || full);
}

}  // namespace

void apply(const Recipe& recipe, PublishedRow& row) {
  apply_shape(recipe, row);
  apply_layout(recipe, row);
  if (recipe.data_overlap) {
    row.practice.data_overlap = recipe.data_overlap;
  }
  if (!row.recompute_known || recipe.recompute || recipe.full_layers) {
    apply_recompute(recipe, row);
  }
  config::ModelConfig& model = row.run.model;
  if (recipe.depths) {
    apply_depths(*recipe.depths, row);
  }
  if (recipe.offloaded_layers) {
    row.practice.offloaded =
        std::min(1.0, Job::real(*recipe.offloaded_layers) / Job::real(model.num_layers));
  }
  row.practice.graphs = recipe.graphs.value_or(row.practice.graphs);
  row.practice.fused_activation = recipe.fused_activation.value_or(row.practice.fused_activation);
  row.practice.fused_dispatch = recipe.fused_dispatch.value_or(row.practice.fused_dispatch);
  bool& overlaps = row.run.parallel.overlap_moe_expert_parallel_comm;
  overlaps = recipe.overlaps.value_or(overlaps);
  row.run.optimizer.main_grad_dtype = recipe.gradients.value_or(row.run.optimizer.main_grad_dtype);
  // Layouts are written with their depths; a run without them has no m.
  const Index parts = row.run.parallel.pipeline_model_parallel_size * row.chunks.value_or(1);
  if (const auto layout = recipe.layouts.find(parts); layout != recipe.layouts.end()) {
    std::string text = layout->second;
    if (!model.mtp_num_layers) {
      std::erase(text, 'm');
    }
    row.run.parallel.pipeline_model_parallel_layout = text;
    row.run.parallel.account_for_embedding_in_pipeline_split = false;
    row.run.parallel.account_for_loss_in_pipeline_split = false;
  }
}

void apply_recipes(const std::vector<Recipe>& recipes, PublishedRow& row) {
  for (const Recipe& recipe : recipes) {
    if (fits(recipe, row)) {
      apply(recipe, row);
    }
  }
}

}  // namespace mpitron::plan

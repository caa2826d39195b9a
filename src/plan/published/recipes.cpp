#include "plan/published/recipes.h"

#include <algorithm>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "plan/machine/exit_codes.h"
#include "plan/machine/library.h"

// Recipes of published runs: what their scripts set and their tables do not say, as YAML files that
// are part of the program. Later recipes go over earlier ones.

namespace mpitron::plan {
namespace {

using config::RecomputeModule;

/// A word of a recipe and what it means.
template <class T>
struct NamedValue {
  const char* text;
  T value;
};
constexpr NamedValue<RecomputeModule> kModules[] = {
    {"core_attn", RecomputeModule::core_attn},
    {"moe_act", RecomputeModule::moe_act},
    {"layernorm", RecomputeModule::layernorm},
    {"mla_up_proj", RecomputeModule::mla_up_proj},
    {"mlp", RecomputeModule::mlp},
    {"moe", RecomputeModule::moe},
    {"shared_experts", RecomputeModule::shared_experts}};
constexpr NamedValue<Graphs> kGraphs[] = {{"none", Graphs::none},
                                          {"router", Graphs::router},
                                          {"attention-and-router", Graphs::attention_and_router},
                                          {"whole", Graphs::whole}};
constexpr NamedValue<bool> kDispatch[] = {{"plain", false}, {"fused", true}};
constexpr NamedValue<DType> kTypes[] = {{"bf16", DType::bf16}, {"fp32", DType::f32}};
constexpr NamedValue<bool> kSwitch[] = {{"0", false}, {"1", true}};

/// Reads one recipe; unknown keys and words are mistakes with their line.
class RecipeReader {
 public:
  RecipeReader(std::string path, const YAML::Node& node) : path_(std::move(path)), node_(node) {}

  Recipe read() const {
    Recipe recipe;
    for (const auto& entry : node_) {
      read(entry.first.as<std::string>(), entry.second, recipe);
    }
    return recipe;
  }

 private:
  template <class T, std::size_t n>
  T word(const YAML::Node& node, const NamedValue<T> (&words)[n]) const {
    const auto text = node.as<std::string>();
    for (const NamedValue<T>& one : words) {
      if (text == one.text) {
        return one.value;
      }
    }
    throw YAML::Exception(node.Mark(), fmt::format("'{}' is not known", text));
  }

  /// Reads the keys that say which rows a recipe is for, and what their tables leave out of model
  /// and layout; read_practice has the rest.
  void read(const std::string& key, const YAML::Node& value, Recipe& recipe) const {
    if (key == "model") {
      recipe.model = value.as<std::string>();
    } else if (key == "hardware") {
      recipe.hardware = value.as<std::vector<std::string>>();
    } else if (key == "precision") {
      recipe.precision = value.as<std::vector<std::string>>();
    } else if (key == "since") {
      recipe.since = value.as<std::string>();
    } else if (key == "until") {
      recipe.until = value.as<std::string>();
    } else if (key == "shape") {
      recipe.shape = value.as<std::vector<Index>>();
      if (recipe.shape.size() != 3) {
        throw YAML::Exception(value.Mark(), "a shape is [layers, hidden size, heads]");
      }
    } else if (key == "batch") {
      recipe.batch = value.as<Index>();
    } else if (key == "sharding") {
      recipe.sharding = value.as<std::string>();
    } else if (key == "recompute") {
      auto& modules = recipe.recompute.emplace();
      for (const YAML::Node& module : value) {
        modules.push_back(word(module, kModules));
      }
    } else if (key == "layouts") {
      recipe.layouts = value.as<std::map<Index, std::string>>();
    } else {
      read_practice(key, value, recipe);
    }
  }

  void read_practice(const std::string& key, const YAML::Node& value, Recipe& recipe) const {
    if (key == "full") {
      recipe.full_layers = value.as<Index>();
    } else if (key == "offload") {
      recipe.offloaded_layers = value.as<Index>();
    } else if (key == "depths") {
      recipe.depths = value.as<Index>();
    } else if (key == "graphs") {
      recipe.graphs = word(value, kGraphs);
    } else if (key == "dispatch") {
      recipe.fused_dispatch = word(value, kDispatch);
    } else if (key == "activation") {
      recipe.fused_activation = word(value, kDispatch);
    } else if (key == "overlap") {
      recipe.overlaps = word(value, kSwitch);
    } else if (key == "gradients") {
      recipe.gradients = word(value, kTypes);
    } else {
      throw YAML::Exception(value.Mark(), fmt::format("a recipe has no key '{}'", key));
    }
  }

  std::string path_;
  YAML::Node node_;
};

/// An empty list stands for any value.
bool listed(const std::vector<std::string>& list, const std::string& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

/// Returns whether a recipe is for a row. Tables are named so that they sort by release: `since`
/// and `until` compare as texts.
bool fits(const Recipe& recipe, const PublishedRow& row) {
  const bool full =
      row.run.parallel.sharding_strategy == config::ShardingStrategy::optim_grads_params;
  return row.source.starts_with(recipe.source) &&
         (recipe.model.empty() || recipe.model == row.model) &&
         listed(recipe.hardware, row.hardware) && listed(recipe.precision, row.precision) &&
         row.table >= recipe.since && (recipe.until.empty() || row.table < recipe.until) &&
         (recipe.sharding != "full" || full);
}

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

/// Puts a recipe into a row. Recomputation that the table itself tells stays, unless the recipe has
/// some.
void apply(const Recipe& recipe, PublishedRow& row) {
  apply_shape(recipe, row);
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

}  // namespace

/// Throws Error(kBadParameterFile) with the line for whatever is not known.
std::vector<Recipe> parse_recipes(const std::string& text, const std::string& path) {
  try {
    const YAML::Node root = YAML::Load(text);
    std::vector<Recipe> recipes;
    for (const YAML::Node& node : root["rows"]) {
      recipes.push_back(RecipeReader(path, node).read());
      recipes.back().source = root["source"].as<std::string>();
    }
    return recipes;
  } catch (const YAML::Exception& error) {
    throw Error(kBadParameterFile, fmt::format("{}:{}: {}", path, error.mark.line + 1, error.msg));
  }
}

/// Reads the files that were built into the program, once.
const std::vector<Recipe>& shipped_recipes() {
  static const std::vector<Recipe> recipes = [] {
    std::vector<Recipe> all;
    for (const ShippedFile& file : shipped_recipe_files()) {
      std::ranges::move(parse_recipes(file.text, file.path), std::back_inserter(all));
    }
    return all;
  }();
  return recipes;
}

void apply_recipes(const std::vector<Recipe>& recipes, PublishedRow& row) {
  for (const Recipe& recipe : recipes) {
    if (fits(recipe, row)) {
      apply(recipe, row);
    }
  }
}

}  // namespace mpitron::plan

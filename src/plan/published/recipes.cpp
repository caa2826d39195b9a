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
constexpr NamedValue<RecomputeModule> kModuleWords[] = {
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
constexpr NamedValue<DType> kTypeWords[] = {{"bf16", DType::bf16}, {"fp32", DType::f32}};
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
    } else if (key == "micro-batch") {
      recipe.micro_batch = value.as<Index>();
    } else if (key == "chunks") {
      recipe.chunks = value.as<Index>();
    } else if (key == "sharding") {
      recipe.sharding = value.as<std::string>();
    } else if (key == "recompute") {
      auto& modules = recipe.recompute.emplace();
      for (const YAML::Node& module : value) {
        modules.push_back(word(module, kModuleWords));
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
    } else if (key == "data-overlap") {
      recipe.data_overlap = value.as<double>();
    } else if (key == "gradients") {
      recipe.gradients = word(value, kTypeWords);
    } else {
      throw YAML::Exception(value.Mark(), fmt::format("a recipe has no key '{}'", key));
    }
  }

  std::string path_;
  YAML::Node node_;
};

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

}  // namespace mpitron::plan

#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/published/published_table.h"

namespace mpitron::plan {

/// The runs that a recipe is for. Empty conditions hold for every run.
struct RecipeConditions {
  std::string source;  // beginning of its name
  std::string model;
  std::vector<std::string> hardware;
  std::vector<std::string> precision;
  std::string since;  // names of tables, in the order of releases
  std::string until;
  std::string sharding;  // "full": only runs whose parameters are fully sharded
};

/// Settings of a published run that its table leaves out; what is unset stays as it is.
struct Recipe : RecipeConditions {
  std::vector<Index> shape;  // layers, hidden size, heads, of a model that the table only names
  std::optional<Index> batch;
  std::optional<Index> micro_batch;  // as chunks, where the table has none
  std::optional<Index> chunks;
  std::optional<double> data_overlap;  // in place of the stack's
  std::optional<std::vector<config::RecomputeModule>> recompute;
  std::optional<Index> full_layers;  // of a chunk, recomputed as a whole
  std::optional<Index> offloaded_layers;
  std::optional<Index> depths;  // of multi-token prediction
  std::optional<Graphs> graphs;
  std::optional<bool> fused_dispatch;
  std::optional<bool> fused_activation;
  std::optional<bool> overlaps;
  std::optional<DType> gradients;
  std::map<Index, std::string> layouts;  // by the number of virtual stages
};

/// Returns the recipes of the files in src/plan/recipes.
const std::vector<Recipe>& shipped_recipes();
/// Reads a file of recipes. Error(kBadParameterFile) with path and line.
std::vector<Recipe> parse_recipes(const std::string& text, const std::string& path);

/// Puts what the recipes say into a row, later ones last.
void apply_recipes(const std::vector<Recipe>& recipes, PublishedRow& row);

/// Puts a recipe into a row. Recomputation that the table itself tells stays, unless the recipe has
/// some.
void apply(const Recipe& recipe, PublishedRow& row);

}  // namespace mpitron::plan

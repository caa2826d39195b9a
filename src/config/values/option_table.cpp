#include "config/values/option_table.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "config/options/checkpointing.h"
#include "config/options/data.h"
#include "config/options/distributed.h"
#include "config/options/experimental.h"
#include "config/options/inference.h"
#include "config/options/logging.h"
#include "config/options/moe.h"
#include "config/options/network_size.h"
#include "config/options/optimization.h"
#include "config/options/other_releases.h"
#include "config/options/own.h"
#include "config/options/precision.h"
#include "config/options/restart.h"
#include "config/options/retrieval.h"
#include "config/options/services.h"
#include "config/options/training_batch.h"
#include "config/options/training_kernels.h"
#include "config/options/training_run.h"
#include "config/options/vision.h"
#include "config/values/finding.h"

// All option tables in the order of `--help`, and the index that finds an option by any of its
// names. Groups bear the names of the reference's parser.

namespace mpitron::config {
namespace {

constexpr std::array kTables = std::to_array<OptionTable>({
    {"network size", rows::kNetworkSize},
    {"regularization", rows::kRegularization},
    {"training", rows::kTrainingBatch},
    {"training", rows::kTrainingRun},
    {"training", rows::kTrainingKernels},
    {"initialization", rows::kInitialization},
    {"learning rate", rows::kLearningRate},
    {"checkpointing", rows::kCheckpointing},
    {"mixed precision", rows::kMixedPrecision},
    {"distributed", rows::kDistributed},
    {"validation", rows::kValidation},
    {"data and dataloader", rows::kDataAndDataloader},
    {"tokenizer", rows::kTokenizer},
    {"autoresume", rows::kAutoresume},
    {"biencoder", rows::kBiencoder},
    {"vision", rows::kVision},
    {"moe", rows::kMoe},
    {"mla", rows::kMla},
    {"heterogeneous architecture", rows::kHeterogeneousArchitecture},
    {"logging", rows::kLogging},
    {"straggler", rows::kStraggler},
    {"workload inspector", rows::kWorkloadInspector},
    {"inference", rows::kInference},
    {"Transformer-Engine", rows::kTransformerEngine},
    {"retro", rows::kRetro},
    {"experimental", rows::kExperimental},
    {"one logger", rows::kOneLogger},
    {"In-process restart", rows::kInProcessRestart},
    {"ft_package", rows::kFtPackage},
    {"config logger", rows::kConfigLogger},
    {"rerun engine", rows::kRerunEngine},
    {"msc", rows::kMsc},
    {"kitchen", rows::kKitchen},
    {"sft", rows::kSft},
    {kOlderNamesGroup, rows::kOlderNames},
    {kLaterReleasesGroup, rows::kLaterLayers},
    {kLaterReleasesGroup, rows::kSparseAttention},
    {kLaterReleasesGroup, rows::kGemmaLayers},
    {kLaterReleasesGroup, rows::kLlama4Layers},
    {kLaterReleasesGroup, rows::kLaterTraining},
    {"vision-language", rows::kVisionLanguage},
    {kOwnGroup, rows::kOwn},
    {kOwnGroup, rows::kFinetuning},
});

std::string with_underscores(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

}  // namespace

std::span<const OptionTable> option_tables() {
  return kTables;
}

std::string dest_of(const Option& option) {
  return option.dest.empty() ? with_underscores(option.name) : std::string(option.dest);
}

/// Splits at white space.
std::vector<std::string> split_words(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) {
    words.push_back(word);
  }
  return words;
}

/// Builds the index once; names with `-` and `_` are one.
OptionIndex::OptionIndex() {
  for (const OptionTable& table : kTables) {
    for (const Option& option : table.rows) {
      const std::size_t slot = options_.size();
      options_.push_back(&option);
      dests_.push_back(dest_of(option));
      groups_.push_back(table.group);
      by_name_.emplace(with_underscores(option.name), slot);
      by_dest_.emplace(dests_.back(), slot);
      if (!option.alias.empty()) {
        for (const std::string& alias : split_words(option.alias)) {
          by_name_.emplace(with_underscores(alias), slot);
        }
      }
    }
  }
}

std::size_t OptionIndex::slot_of_name(std::string_view name) const {
  const auto found = by_name_.find(with_underscores(name));
  return found == by_name_.end() ? kNotFound : found->second;
}

std::size_t OptionIndex::slot_of_dest(std::string_view dest) const {
  const auto found = by_dest_.find(std::string(dest));
  return found == by_dest_.end() ? kNotFound : found->second;
}

/// Finds names by their letters, at most three, and returns them with dashes.
std::vector<std::string> OptionIndex::similar_names(std::string_view name) const {
  std::vector<std::string_view> names;
  names.reserve(options_.size());
  for (const Option* option : options_) {
    names.push_back(option->name);
  }
  std::vector<std::string> out;
  for (const std::string_view near : nearest_words(name, names)) {
    out.push_back("--" + std::string(near));
  }
  return out;
}

const OptionIndex& option_index() {
  static const OptionIndex index;
  return index;
}

}  // namespace mpitron::config

#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model_config.h"
#include "convert/names/name_entry.h"

namespace mpitron::convert {

/// What a family needs of a model, since nothing else can be said in its config.json: whether the
/// model has it, and how one gets it.
using Needs = std::vector<std::pair<bool, std::string>>;

struct Family {
  std::string_view model_type;
  std::span<const EntryBlock> names;
  Needs (*needs)(const config::ModelConfig& model);
  const char* words;                   // their name of the word embeddings
  std::vector<const char*> tied = {};  // theirs that repeat the words where the output is tied
  std::vector<std::pair<const char*, const char*>> copies = {};  // that always repeat: what, which
  const char* optional_prefix = "";  // files of the first releases lack it
};

/// All there are.
std::span<const Family> families();

/// Empty, or what the model would need to belong to the family.
std::string obstacle(const Family& family, const config::ModelConfig& model);

}  // namespace mpitron::convert

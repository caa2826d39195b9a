#pragma once
#include <optional>
#include <string>

#include "config/data_config.h"
#include "config/model_config.h"

namespace mpitron::config {

/// A model as the options in a checkpoint describe it.
struct StoredModel {
  ModelConfig model;     // without what only training does: losses, 8-bit products, recomputation
  Index vocab_size = 0;  // ids of the tokenizer; 0: not known
  std::optional<TokenizerConfig> tokenizer;  // of the run, with paths as they were given to it
  std::string options;  // JSON: stored name -> value of those options that belong to a model
};

/// Reads the options of a run's checkpoint (values_json, or the arguments of a Megatron checkpoint,
/// whose names are the same) by the tables, derivations and rules of the command line, so that
/// options which a run can be given are known here. Options that say nothing of a model are not
/// read. Error(data) with all findings names `source`.
StoredModel read_stored_model(const std::string& configuration, const std::string& source);

}  // namespace mpitron::config

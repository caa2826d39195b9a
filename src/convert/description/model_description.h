#pragma once
#include <map>
#include <optional>
#include <string>

#include "config/data_config.h"
#include "config/model_config.h"

namespace mpitron::convert {

/// Everything that has to be known of a model besides its tensors.
struct ModelDescription {
  config::ModelConfig model;
  Index vocab_size = 0;  // rows that stand for tokens; 0: not known, all rows are taken
  Index iteration = -1;  // -1: a release, not a state of training
  Index consumed_train_samples = 0;
  std::optional<config::TokenizerConfig> tokenizer;  // of a run
  std::string options;     // JSON of the options that it was read from; empty: of no run
  std::string model_type;  // Hugging Face's name of the family: "llama"; empty: not known
  /// Name -> bytes of what travels along unread: tokenizer files, and the config.json that it came
  /// with, whose other fields are given back.
  std::map<std::string, std::string> files;

  /// Returns the rows of the vocabulary that a foreign format stores.
  Index stored_vocab_size() const { return vocab_size > 0 ? vocab_size : model.padded_vocab_size; }
};

/// Returns the model's options as JSON: stored name -> value, as `--yaml-cfg` would take them. Only
/// what belongs to the model: no layout, no schedule.
std::string to_configuration(const ModelDescription& description);

/// Reads a model from the JSON of a checkpoint's options, as config::read_stored_model does, and
/// takes it to be as long as it can be. Error(data) names `source`.
ModelDescription from_configuration(const std::string& json, const std::string& source);

}  // namespace mpitron::convert

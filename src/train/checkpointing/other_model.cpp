#include "train/checkpointing/other_model.h"

#include <fmt/format.h>

#include "checkpoint/header_names.h"
#include "config/checkpoint_arguments.h"

namespace mpitron::train {
namespace {

std::string vocabulary_difference(const checkpoint::Header& header, const RunIdentity& identity) {
  const auto size = header.integers.find(checkpoint::kVocabularySize);
  if (identity.vocabulary == 0 || size == header.integers.end() ||
      size->second == identity.vocabulary) {
    return "";
  }
  const std::string options =
      config::vocabulary_differences(header.configuration, identity.configuration);
  return fmt::format("{} tokens, here {}{}", size->second, identity.vocabulary,
                     options.empty() ? "" : " (" + options + ")");
}

}  // namespace

std::string model_differences(const checkpoint::Header& header, const RunIdentity& identity) {
  const std::string options =
      config::model_differences(header.configuration, identity.configuration);
  const std::string vocabulary = vocabulary_difference(header, identity);
  return options + (options.empty() || vocabulary.empty() ? "" : "; ") + vocabulary;
}

}  // namespace mpitron::train

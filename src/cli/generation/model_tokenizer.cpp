#include "cli/generation/model_tokenizer.h"

#include <filesystem>

#include "tokenizers/make_tokenizer.h"
#include "train/batches/tokenizer_options.h"
#include "utils/error.h"

namespace mpitron::cli {
namespace {

/// A file of a tokenizer, by the option that names it.
struct TokenizerFile {
  const char* option;
  std::string tokenizers::TokenizerOptions::*path;
};
constexpr TokenizerFile kFiles[] = {
    {"--vocab-file", &tokenizers::TokenizerOptions::vocab_file},
    {"--merge-file", &tokenizers::TokenizerOptions::merge_file},
    {"--tokenizer-model", &tokenizers::TokenizerOptions::tokenizer_model}};

/// The tokenizer of the run that trained the model, with files of the options instead of its own.
tokenizers::TokenizerOptions of_run(const std::string& folder,
                                    const tokenizers::TokenizerOptions& options,
                                    const config::TokenizerConfig& config) {
  tokenizers::TokenizerOptions chosen = train::tokenizer_options(config);
  for (const auto& [option, path] : kFiles) {
    const std::string& given = options.*path;
    std::string& file = chosen.*path;
    file = given.empty() ? file : given;
    if (given.empty() && !file.empty() && !std::filesystem::exists(file)) {
      throw_usage("{} is missing: {} was trained with {}, which is not here", option, folder, file);
    }
  }
  return chosen;
}

}  // namespace

std::unique_ptr<tokenizers::Tokenizer> model_tokenizer(
    const std::string& folder, const tokenizers::TokenizerOptions& options,
    const std::optional<config::TokenizerConfig>& trained_with) {
  if (!options.type.empty()) {
    return tokenizers::make_tokenizer(options);
  }
  if (std::filesystem::exists(std::filesystem::path(folder) / "tokenizer.json")) {
    tokenizers::TokenizerOptions beside = options;
    beside.type = "HuggingFaceTokenizer";
    beside.tokenizer_model = folder;
    return tokenizers::make_tokenizer(beside);
  }
  if (!trained_with) {
    throw_usage("--tokenizer-type is missing: {} holds no tokenizer.json", folder);
  }
  return tokenizers::make_tokenizer(of_run(folder, options, *trained_with));
}

}  // namespace mpitron::cli

#include "train/checkpointing/load_differences.h"

#include <algorithm>

#include <fmt/format.h>

#include "checkpoint/format/file.h"
#include "config/sources/checkpoint_arguments.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::train {
namespace {

using checkpoint::LoadReport;

/// Tells what --dist-ckpt-strictness lets pass: by default every difference ends the run.
bool tolerated(LoadReport::Kind kind, const std::string& strictness) {
  if (kind == LoadReport::Kind::mismatched) {
    return strictness == "ignore_all";
  }
  if (kind == LoadReport::Kind::unexpected) {
    return !strictness.starts_with("raise_");
  }
  return strictness == "log_all" || strictness == "return_all" || strictness == "ignore_all" ||
         strictness == "raise_unexpected";
}

/// A vocabulary of another size is a model of its own, even where its padded table fits.
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

bool is_of_a_head(const std::string& name) {
  constexpr const char* kHeads[] = {
      "classification_head.", "multichoice_head.", "binary_head.", "pooler.", "lm_head.",
      "output_layer."};
  return std::ranges::any_of(
      kHeads, [&](const char* head) { return name.starts_with(std::string("model/") + head); });
}

/// One message for all tensors that are missing, unexpected or of another shape, with the option
/// that may help.
void refuse_differences(checkpoint::CheckpointReader& reader,
                        std::span<const checkpoint::LoadTarget> targets,
                        const WantedState& wanted) {
  LoadReport fatal, passed;
  std::string new_tensors;
  for (const LoadReport::Difference& difference : reader.compare(targets).differences) {
    const bool unexpected = difference.kind == LoadReport::Kind::unexpected;
    const bool not_asked_for =
        (!wanted.with_optimizer && difference.name.starts_with("optimizer/")) ||
        (!wanted.with_histories && difference.name.starts_with("fp8/"));
    if (unexpected && (not_asked_for || wanted.state.replaced(reader.file(), difference.name))) {
      continue;
    }
    const bool missing = difference.kind == LoadReport::Kind::missing;
    if (wanted.new_head && is_of_a_head(difference.name) && (missing || unexpected)) {
      new_tensors += missing ? " " + difference.name.substr(difference.name.find('/') + 1) : "";
      continue;
    }
    const bool passes = tolerated(difference.kind, wanted.strictness);
    (passes ? passed : fatal).differences.push_back(difference);
  }
  if (!fatal.empty()) {
    const std::vector<std::string> missing = fatal.names(LoadReport::Kind::missing);
    const bool only_optimizer =
        !missing.empty() && std::ranges::all_of(missing, [](const std::string& name) {
          return name.starts_with("optimizer/");
        });
    throw Error(
        ExitCode::data,
        fmt::format("{} does not fit this run:\n{}{}", reader.file().path().string(), fatal.text(),
                    only_optimizer
                        ? "it has no such optimizer state: --no-load-optim starts without it"
                        : "--dist-ckpt-strictness log_all goes on with what fits"),
        true);
  }
  if (!new_tensors.empty()) {
    log::print("  begin anew:" + new_tensors);
  }
  if (!passed.empty() && wanted.strictness.starts_with("log_")) {
    log::warning("{}: {}", reader.file().path().string(), passed.text());
  }
}

std::string model_differences(const checkpoint::Header& header, const RunIdentity& identity) {
  const std::string options =
      config::model_differences(header.configuration, identity.configuration);
  const std::string vocabulary = vocabulary_difference(header, identity);
  return options + (options.empty() || vocabulary.empty() ? "" : "; ") + vocabulary;
}

}  // namespace mpitron::train

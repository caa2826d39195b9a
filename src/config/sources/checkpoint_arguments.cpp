#include "config/sources/checkpoint_arguments.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/sources/checkpoint_options.h"
#include "utils/text/json_nesting.h"

// Options that a checkpoint carries: those that --use-checkpoint-args adopts, and those in which a
// run may not differ from what it loads. The lists follow load_args_from_checkpoint of the
// reference.

namespace mpitron::config {
namespace {

constexpr std::array kStateTypes =
    std::to_array<const char*>({"main_params_dtype", "exp_avg_dtype", "exp_avg_sq_dtype"});

using ArgumentsJson = nlohmann::json;

/// Returns the options of a checkpoint; a value that is no object where the text is none.
ArgumentsJson parse(const std::string& configuration) {
  return nests_too_deep(configuration) ? ArgumentsJson()
                                       : ArgumentsJson::parse(configuration, nullptr, false);
}

std::string word(const ArgumentsJson& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Returns a list as its words, a single value as one.
std::vector<std::string> words(const ArgumentsJson& value) {
  std::vector<std::string> out;
  if (value.is_array()) {
    for (const ArgumentsJson& item : value) {
      out.push_back(word(item));
    }
  } else {
    out.push_back(word(value));
  }
  return out;
}

/// Takes options of a checkpoint over into a run's values, with a notice for each that the user
/// gave otherwise.
class Adoption {
 public:
  Adoption(const CheckpointArguments& checkpoint, const ArgumentsJson& saved, OptionValues& values,
           Reading& report)
      : checkpoint_(checkpoint), saved_(saved), values_(values), report_(report) {}

  /// Takes those of `dests` that the checkpoint has and the command line lacks.
  void complete(std::span<const char* const> dests) {
    for (const char* dest : dests) {
      if (!values_.given(dest)) {
        take({&dest, 1});
      }
    }
  }

  /// Takes those of `dests` that the checkpoint has, over what the command line says.
  void take(std::span<const char* const> dests) {
    for (const char* dest : dests) {
      const std::size_t slot = option_index().slot_of_dest(dest);
      const auto found = saved_.find(dest);
      if (slot == OptionIndex::kNotFound || found == saved_.end() || found->is_null()) {
        continue;
      }
      std::vector<std::string> taken = words(*found);
      if (values_.words(dest) == taken) {
        continue;  // a default stays one: options of other models do not count as given
      }
      if (values_.given(dest)) {
        report_.notices.push_back(fmt::format("--{}: {} of the checkpoint is used",
                                              option_index().option(slot).name, word(*found)));
      }
      values_.set(slot, std::move(taken), {Origin::Source::yaml, checkpoint_.path});
    }
  }

 private:
  const CheckpointArguments& checkpoint_;
  const ArgumentsJson& saved_;
  OptionValues& values_;
  Reading& report_;
};

/// Lists the options of which two configurations have different values; options that one of them
/// lacks count as equal, since older checkpoints lack newer options.
std::string differences(std::span<const char* const> dests,
                        const std::string& checkpoint_configuration,
                        const std::string& configuration) {
  const ArgumentsJson theirs = parse(checkpoint_configuration);
  const ArgumentsJson ours = parse(configuration);
  std::string text;
  if (!theirs.is_object() || !ours.is_object()) {
    return text;
  }
  for (const char* dest : dests) {
    if (theirs.contains(dest) && ours.contains(dest) && theirs[dest] != ours[dest]) {
      text += fmt::format("{}{} {}, here {}", text.empty() ? "" : "; ", dest, word(theirs[dest]),
                          word(ours[dest]));
    }
  }
  return text;
}

}  // namespace

/// Adopts the model's sizes and, with --use-mp-args-from-checkpoint-args, its layout.
void adopt_checkpoint_arguments(const CheckpointArguments& checkpoint, OptionValues& values,
                                Reading& report) {
  const ArgumentsJson saved = parse(checkpoint.configuration);
  if (!saved.is_object()) {
    report.findings.push_back(
        {ids::kFile,
         "configuration_file",
         fmt::format("{} holds no configuration that could be used.", checkpoint.path),
         "leave --use-checkpoint-args out and give the model's options",
         {"--use-checkpoint-args"}});
    return;
  }
  Adoption adoption(checkpoint, saved, values, report);
  adoption.take(kShapes);
  adoption.take(kMeanings);
  if (const auto model = saved.find("model"); model != saved.end() && *model == "vlm") {
    adoption.take(kImagesInText);
  }
  if (checkpoint.layout) {
    adoption.take(kLayout);
  }
  if (checkpoint.tokenizer) {
    adoption.take(kTokenizer);
    adoption.complete(kTokenizerFiles);
  }
}

std::string model_differences(const std::string& checkpoint_configuration,
                              const std::string& configuration) {
  return differences(kShapes, checkpoint_configuration, configuration);
}

std::string function_differences(const std::string& checkpoint_configuration,
                                 const std::string& configuration) {
  return differences(kFunction, checkpoint_configuration, configuration);
}

/// Leaves out folders and ports, which may differ without a word.
std::string all_differences(const std::string& checkpoint_configuration,
                            const std::string& configuration) {
  std::vector<const char*> dests;
  for (std::size_t slot = 0; slot < option_index().size(); ++slot) {
    const std::string& dest = option_index().dest(slot);
    if (std::ranges::find(kFolders, dest) == kFolders.end()) {
      dests.push_back(dest.c_str());
    }
  }
  return differences(dests, checkpoint_configuration, configuration);
}

std::string vocabulary_differences(const std::string& checkpoint_configuration,
                                   const std::string& configuration) {
  return differences(kVocabulary, checkpoint_configuration, configuration);
}

std::string state_type_differences(const std::string& checkpoint_configuration,
                                   const std::string& configuration) {
  return differences(kStateTypes, checkpoint_configuration, configuration);
}

}  // namespace mpitron::config

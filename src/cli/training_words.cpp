#include "cli/training_words.h"

namespace mpitron::cli {

Arguments training_options(const Arguments& words) {
  constexpr std::string_view kTraining = "pretrain-", kImages = "vision-";
  const bool named =
      !words.empty() && words[0].starts_with(kTraining) &&
      std::ranges::any_of(commands(), [&](const Command& each) { return each.name == words[0]; });
  if (!named) {
    return words;
  }
  const std::string kind = words[0].substr(kTraining.size());
  Arguments options =
      kind.starts_with(kImages)
          ? Arguments{"--model", "vit", "--vision-pretraining-type", kind.substr(kImages.size())}
          : Arguments{"--model", kind};
  options.insert(options.end(), words.begin() + 1, words.end());
  return options;
}

}  // namespace mpitron::cli

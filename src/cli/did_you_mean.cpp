#include "cli/did_you_mean.h"

#include <fmt/ranges.h>

#include "config/edit_distance.h"

namespace mpitron::cli {

std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
  const std::vector<std::string_view> near = config::nearest_words(word, words);
  return near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "));
}

std::vector<std::string_view> names_of(std::span<const Command> commands) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) {
    names.push_back(command.name);
  }
  return names;
}

}  // namespace mpitron::cli

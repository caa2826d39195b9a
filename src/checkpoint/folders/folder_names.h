#pragma once
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "utils/numbers/shape.h"

namespace mpitron::checkpoint {

// Names in a folder of checkpoints.

inline constexpr const char* kTrackerName = "latest_checkpointed_iteration.txt";
inline constexpr const char* kCheckpointFile = "checkpoint.h5";
inline constexpr std::string_view kIterationPrefix = "iter_";
inline constexpr std::string_view kUnfinishedEnd = ".tmp";
inline constexpr Index kReleaseIteration = -1;

/// Returns "iter_0000123", or "release" for weights without an iteration: Megatron's names.
inline std::string name_of_iteration(Index iteration) {
  return iteration == kReleaseIteration ? "release" : fmt::format("iter_{:07d}", iteration);
}

inline std::optional<Index> natural_number(std::string_view text) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size() && value >= 0;
  return whole ? std::optional(value) : std::nullopt;
}

/// Returns the iteration of a folder of the final name; none for other names, which need not be
/// ours.
inline std::optional<Index> iteration_of(const std::string& name) {
  if (name == name_of_iteration(kReleaseIteration)) {
    return kReleaseIteration;
  }
  const auto value = name.starts_with(kIterationPrefix)
                         ? natural_number(std::string_view(name).substr(kIterationPrefix.size()))
                         : std::nullopt;
  return value && name_of_iteration(*value) == name ? value : std::nullopt;
}

}  // namespace mpitron::checkpoint

#pragma once
#include <filesystem>

#include "utils/numbers/shape.h"

namespace mpitron::convert {

/// Whether there is a latest_checkpointed_iteration.txt, as Megatron and this program write it.
bool has_tracker(const std::filesystem::path& root);

/// The folder that the tracker chooses: iter_0000123 or release. `root` itself where there is no
/// tracker. Error(data) for a tracker with other text.
std::filesystem::path iteration_folder(const std::filesystem::path& root);

/// 123 for iter_0000123, -1 for everything else.
Index iteration_of(const std::filesystem::path& folder);

}  // namespace mpitron::convert

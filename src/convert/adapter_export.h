#pragma once
#include <filesystem>

#include "utils/numbers/shape.h"

namespace mpitron::convert {

/// Writes the low-rank updates of a checkpoint (a file, its folder, or a folder of checkpoints) as
/// a folder of PEFT, bit for bit. Returns the number of tensors. Error(data) where the checkpoint
/// has none.
Index export_adapter(const std::filesystem::path& checkpoint, const std::filesystem::path& folder);

}  // namespace mpitron::convert

#pragma once
#include <vector>

#include "checkpoint/folders/folder.h"

namespace mpitron::checkpoint {

/// Replaces a checkpoint by one file without the optimizer's state (data sets below optimizer/), in
/// the two phases of a save; the tracker stays. Returns false where it has none. Error(data) names
/// a file that is damaged: it stays what it is.
bool strip_optimizer(const Folder& folder, Index iteration);

/// Leaves optimizer state to the newest `keep_last` checkpoints, of which `newest` is one and has
/// been verified, and to those that somebody has named. Returns the iterations that lost it,
/// descending; begins where an earlier call ended.
std::vector<Index> strip_older_than(const Folder& folder, Index keep_last, Index newest);

}  // namespace mpitron::checkpoint

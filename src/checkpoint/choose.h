#pragma once
#include "checkpoint/folder.h"

namespace mpitron::checkpoint {

/// The file of this iteration; Error(data) names those that are there where it is not.
std::filesystem::path existing_file(const Folder& folder, Index iteration);

/// The checkpoint of `iteration`, or the newest one that opens, without reading its data: for what
/// its header says. Error(data) where there is none.
File open_newest(const Folder& folder, std::optional<Index> iteration = std::nullopt);

/// Notes beside a checkpoint that a run has read it back and found the bits of its own state.
void record_verified_resume(const Folder& folder, Index iteration, const std::string& build);

}  // namespace mpitron::checkpoint

#pragma once
#include <filesystem>
#include <string>

#include "cli/command.h"
#include "utils/numbers/shape.h"

namespace mpitron::cli {

/// The checkpoint file that a user means by a path: the file itself, the file of an iter_* folder,
/// or the newest of a folder of checkpoints. Error(data) where there is none, with what is there.
std::filesystem::path checkpoint_file(const std::filesystem::path& path);

/// Takes the leading words that are no options: the paths of a command.
Arguments take_paths(Arguments& arguments);

/// "1.49 GB", "512 B": decimal.
std::string readable_bytes(Index bytes);

}  // namespace mpitron::cli

#pragma once
#include <filesystem>
#include <string>

namespace mpitron::cli {

/// Tells models apart that --load names: 32 digits of the names, sizes and samples of their files,
/// whatever the layout that they are loaded in. Of checkpoints of ours the newest alone counts.
std::string model_fingerprint(const std::filesystem::path& load);
/// Hashes all files below a folder in the same way.
std::string folder_fingerprint(const std::filesystem::path& folder);

}  // namespace mpitron::cli

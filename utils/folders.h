#pragma once
#include <filesystem>
#include <string_view>

namespace mpitron {

/// Makes the folder that `option` names, and those above it; Error(data) where that fails.
void make_folder(std::string_view option, const std::filesystem::path& folder);

}  // namespace mpitron

#pragma once
#include <filesystem>
#include <optional>

namespace mpitron::cli {

/// A file or folder that came with the program, PREFIX/share/mpitron/NAME where it is
/// PREFIX/bin/mpitron; nothing where it was not installed.
std::optional<std::filesystem::path> installed(const std::filesystem::path& name);

}  // namespace mpitron::cli

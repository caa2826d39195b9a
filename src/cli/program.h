#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace mpitron::cli {

/// Version, commit and build of this program in one line.
std::string fingerprint();

/// A file or folder that came with the program, PREFIX/share/mpitron/NAME where it is
/// PREFIX/bin/mpitron; nothing where it was not installed.
std::optional<std::filesystem::path> installed(const std::filesystem::path& name);

/// Starts the program again with a short spin of waiting OpenMP threads, unless the environment
/// (OMP_WAIT_POLICY, GOMP_SPINCOUNT) says how they wait. libgomp reads it before `main`, and its
/// own default spins for milliseconds at every barrier: with one neighbour on the cores a small
/// step takes twenty times as long. On idle cores the short spin costs nothing
/// (docs/measurements.md). Returns where nothing is to be done or the restart is refused.
void wait_patiently(char** argv);

}  // namespace mpitron::cli

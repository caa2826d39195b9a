#pragma once
#include <cstddef>
#include <filesystem>

namespace mpitron {

/// How the program meets signals that would end it without a word; once, at its start. A file that
/// grows beyond `ulimit -f` makes its write fail instead (SIGXFSZ is ignored), and a bus error in a
/// mapped file (one that was cut, or a disk that errs) names the file and ends with exit code 4.
void tell_faults();

/// From now on writing to a pipe that nobody reads fails and does not end the program: a training
/// whose log nobody takes any more goes on.
void outlive_readers();

/// Notes where a file is mapped, for that sentence; `forget_mapping` before it is unmapped.
void remember_mapping(const void* begin, std::size_t size, const std::filesystem::path& path);
void forget_mapping(const void* begin);

}  // namespace mpitron

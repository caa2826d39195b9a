#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>

#include "device/tensor_view.h"

// What tests of kernels write into the file that MPITRON_TEST_LOG names, line by line and at once,
// so that a program that a kernel ended still tells which one: what is launched, and how far its
// results were from the reference's.

namespace mpitron::kernels {

inline void log_line(const std::string& line) {
  static const char* const path = std::getenv("MPITRON_TEST_LOG");
  if (path == nullptr) {
    return;
  }
  if (std::FILE* const file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
}

/// "launch NAME: ARGUMENTS", before the kernel is launched; nothing of what tests put together of
/// several kernels.
template <class Kernel>
void log_launch(const Kernel& kernel) {
  if constexpr (requires { Kernel::name; }) {
    std::string arguments;
    kernel.views([&](const char* name, const auto& view) {
      arguments += (arguments.empty() ? "" : ", ") + device::describe(name, view);
    });
    log_line(std::string("launch ") + Kernel::name + ": " + arguments);
  }
}

/// "error NAME: ERROR TOLERANCE", both relative to the largest element of a result.
inline void log_error(const char* kernel, double error, double tolerance) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%.3e %.3e", error, tolerance);
  log_line(std::string("error ") + kernel + ": " + numbers);
}

}  // namespace mpitron::kernels

#include "cli/installed.h"

#include <system_error>

namespace mpitron::cli {

std::optional<std::filesystem::path> installed(const std::filesystem::path& name) {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::filesystem::path file =
      program.parent_path().parent_path() / "share" / "mpitron" / name;
  return !failed && std::filesystem::exists(file, failed) ? std::optional(file) : std::nullopt;
}

}  // namespace mpitron::cli

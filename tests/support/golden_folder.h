#pragma once
#include <cstdlib>
#include <string>

namespace mpitron::test {

/// Folder of the reference data; `MPITRON_GOLDEN_DIR` names a larger set than the one in the
/// repository.
inline std::string golden_folder() {
  const char* folder = std::getenv("MPITRON_GOLDEN_DIR");
  return folder != nullptr ? folder : MPITRON_SOURCE_DIR "/tests/golden";
}

}  // namespace mpitron::test

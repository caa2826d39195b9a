#include "launch/mpi_library.h"

namespace mpitron::launch {
namespace {

bool open_mpi_knows_pmi(const std::filesystem::path& libraries) {
  bool has_components = false;
  for (const char* below : {"openmpi", "openmpi3", "openmpi/lib/openmpi", "openmpi/lib/openmpi3"}) {
    std::error_code error;  // no such folder: an empty loop
    for (const auto& entry : std::filesystem::directory_iterator(libraries / below, error)) {
      const std::string name = entry.path().filename();
      has_components = has_components || name.starts_with("mca_pmix_");
      if (name == "mca_pmix_s1.so" || name == "mca_pmix_s2.so") {
        return true;
      }
    }
  }
  return !has_components;
}

}  // namespace

MpiLibrary describe_mpi(const std::string& version, const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(file, error);
  return {.version = version.substr(0, version.find_first_of(",\n")),
          .knows_pmi = !version.starts_with("Open MPI") ||
                       open_mpi_knows_pmi((error ? file : real).parent_path())};
}

}  // namespace mpitron::launch

#pragma once
#include <filesystem>
#include <string>

namespace mpitron::launch {

/// The MPI library of this program, as far as launching depends on it.
struct MpiLibrary {
  std::string version;     // first line of what MPI_Get_library_version says
  bool knows_pmi = false;  // PMI-1 or PMI-2, which srun offers beside PMIx
};

/// `version`: what MPI_Get_library_version says; `file`: where the library lies. Open MPI knows PMI
/// where a component for it lies beside the library (distributions leave it out); without any such
/// folder (a static build) and for other libraries it is believed to.
MpiLibrary describe_mpi(const std::string& version, const std::filesystem::path& file);

}  // namespace mpitron::launch

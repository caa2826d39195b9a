#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "utils/numbers/shape.h"

namespace mpitron::launch {

/// Environment variables: those of this process, or made-up ones.
using Environment = std::map<std::string, std::string>;

/// Returns a copy, so that checks read what the process started with.
Environment process_environment();

/// Returns the variable's text; none where it is not set.
std::optional<std::string> text_of(const Environment& environment, const std::string& name);
/// Returns its leading integer, so that Slurm's "4(x2)" is 4; none where it has none.
std::optional<Index> number_of(const Environment& environment, const std::string& name);

/// The MPI library of this program, as far as launching depends on it: which launchers can start it
/// follows from these two.
struct MpiLibrary {
  std::string version;     // first line of what MPI_Get_library_version says
  bool knows_pmi = false;  // PMI-1 or PMI-2, which srun offers beside PMIx
};

/// `version`: what MPI_Get_library_version says; `file`: where the library lies. Open MPI knows PMI
/// where a component for it lies beside the library (distributions leave it out); without any such
/// folder (a static build) and for other libraries it is believed to.
MpiLibrary describe_mpi(const std::string& version, const std::filesystem::path& file);

}  // namespace mpitron::launch

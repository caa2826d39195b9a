#include "launch/environment.h"

#include <charconv>

#include <unistd.h>

// Environment variables as a map, and what kind of MPI library the program has: both decide whether
// a launcher can connect its ranks.

namespace mpitron::launch {

Environment process_environment() {
  Environment environment;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) {
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return environment;
}

std::optional<std::string> text_of(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Index> number_of(const Environment& environment, const std::string& name) {
  const std::string text = text_of(environment, name).value_or("");
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

namespace {

/// Looks for components of PMI in the folders where distributions put Open MPI's plugins; s1 and s2
/// are Slurm's PMI-1 and PMI-2.
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

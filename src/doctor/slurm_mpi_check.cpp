#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "doctor/slurm_check.h"
#include "utils/system/files.h"

// Checks of how Slurm starts MPI: its plugin, and the libraries of PMIx.

namespace mpitron::doctor {
namespace {

constexpr const char* kPmixLibrary = "libpmix.so";

/// Returns the absolute paths that a library holds as whole strings.
std::vector<std::filesystem::path> paths_in(const std::string& bytes) {
  std::vector<std::filesystem::path> paths;
  for (std::size_t at = bytes.find(std::string("\0/", 2)); at != std::string::npos;
       at = bytes.find(std::string("\0/", 2), at + 1)) {
    const std::string text = bytes.c_str() + at + 1;
    const bool is_path = std::all_of(text.begin(), text.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '/' || c == '_' || c == '-' || c == '.' || c == '+';
    });
    if (is_path && text.size() > 1) {
      paths.emplace_back(text);
    }
  }
  return paths;
}

}  // namespace

CheckResult check_plugin(const SlurmFacts& facts) {
  CheckResult result{"slurm pmix", Verdict::ok, "", ""};
  std::istringstream words(facts.mpi_list);
  for (std::string word; words >> word;) {
    if (word.starts_with("pmix_v")) {
      result.found = word;
    }
  }
  if (facts.mpi_list.find("pmix") == std::string::npos) {
    result.verdict = Verdict::fail;
    result.found = "`srun --mpi=list` has no pmix";
    result.advice =
        "start ranks with mpirun inside the job, or install Slurm's pmix plugin "
        "(Debian: slurm-wlm-basic-plugins and libpmix-dev; else build Slurm --with-pmix)";
  } else if (!facts.absent_pmix.empty()) {
    result.verdict = Verdict::fail;
    result.found = fmt::format(
        "Slurm's plugin opens {}, which is not there: srun says \"Invalid "
        "MPI type 'pmix'\" although --mpi=list has it",
        facts.absent_pmix[0].string());
    result.advice =
        fmt::format("on every node: apt-get install libpmix-dev, or ln -s libpmix.so.2 {}",
                    facts.absent_pmix[0].string());
  }
  return result;
}

CheckResult check_mpi_type(const SlurmFacts& facts, const launch::Environment& environment,
                           const launch::MpiLibrary& mpi) {
  const std::string fallback = setting(facts.configuration, "MpiDefault");
  const std::string type = launch::text_of(environment, "SLURM_MPI_TYPE").value_or(fallback);
  CheckResult result{"slurm mpi type", Verdict::ok, type, ""};
  const bool works = type.starts_with("pmix") || (type.starts_with("pmi") && mpi.knows_pmi);
  if (!works) {
    result.verdict = Verdict::warn;
    result.found = fmt::format("srun connects ranks by \"{}\", which {} does not know",
                               type.empty() ? "none" : type, mpi.version);
    result.advice =
        "export SLURM_MPI_TYPE=pmix, or srun --mpi=pmix; for everybody: MpiDefault=pmix in "
        "slurm.conf";
  }
  return result;
}

/// Looks into each plugin for the folders it would open, and for the library in them.
std::vector<std::filesystem::path> absent_pmix_libraries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> absent;
  std::error_code error;  // no such folder: an empty loop
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("mpi_pmix_") || !name.ends_with(".so")) {
      continue;
    }
    bool is_there = false;
    std::optional<std::filesystem::path> wanted;
    for (const std::filesystem::path& path : paths_in(read_file(entry.path()))) {
      const std::string last = path.filename();
      if (last.starts_with("lib") && path.extension() != ".so") {  // lib, lib64
        is_there = is_there || std::filesystem::exists(path / kPmixLibrary, error);
        wanted = wanted.value_or(path / kPmixLibrary);
      }
    }
    if (wanted && !is_there) {
      absent.push_back(*wanted);
    }
  }
  return absent;
}

}  // namespace mpitron::doctor

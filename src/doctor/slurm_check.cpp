#include "doctor/slurm_check.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "utils/system/files.h"
#include "utils/system/machine.h"

// How Slurm would start ranks here: its PMIx plugin, its default, and munge, each asked of the
// programs and files of the installation.

namespace mpitron::doctor {
namespace {

constexpr const char* kPmixLibrary = "libpmix.so";
constexpr const char* kConfiguration = "/etc/slurm/slurm.conf";
constexpr const char* kMungeSocket = "/run/munge/munge.socket.2";

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

/// Returns the socket that AuthInfo names, else the default.
std::filesystem::path munge_socket(const std::string& configuration) {
  const std::string info = setting(configuration, "AuthInfo");
  const std::size_t at = info.find("socket=");
  if (at == std::string::npos) {
    return kMungeSocket;
  }
  const std::size_t begin = at + 7;
  return info.substr(begin, info.find(',', begin) - begin);
}

/// Returns whether something accepts connections there.
bool answers(const std::filesystem::path& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = socket.string();
  if (name.size() >= sizeof(address.sun_path)) {
    return false;
  }
  name.copy(address.sun_path, name.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool connected =
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  ::close(descriptor);
  return connected;
}

/// Checks that srun has a plugin for PMIx that it can open: Open MPI of Debian needs it, and
/// without it each rank thinks it is alone.
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

/// Checks that srun's type is one that the MPI library speaks.
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

/// Checks munge, without which no job starts.
CheckResult check_munge(const SlurmFacts& facts) {
  const std::string type = setting(facts.configuration, "AuthType");
  const std::filesystem::path socket = munge_socket(facts.configuration);
  if (!type.empty() && type != "auth/munge") {
    return {"munge", Verdict::skipped, "Slurm uses " + type, ""};
  }
  if (facts.munge_answers) {
    return {"munge", Verdict::ok, "answers at " + socket.string(), ""};
  }
  return {"munge", Verdict::fail, fmt::format("does not answer at {}", socket.string()),
          "systemctl start munge (the same /etc/munge/munge.key on all nodes, clocks within five "
          "minutes); in a container mount /run/munge, or outside of it submit jobs"};
}

}  // namespace

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

/// Asks srun and scontrol where they are there.
SlurmFacts read_slurm(const launch::Environment& environment) {
  SlurmFacts facts;
  std::error_code error;
  if (!environment.contains("SLURM_CONF") && !environment.contains("SLURM_JOB_ID") &&
      !std::filesystem::exists(kConfiguration, error)) {
    return facts;
  }
  // A controller that is down would be asked for minutes; one that is busy takes seconds.
  const CommandOutput list = command_output({"timeout", "20", "srun", "--mpi=list"});
  facts.is_there = list.code != 127;
  facts.mpi_list = list.text;
  if (facts.is_there) {
    const CommandOutput shown = command_output({"timeout", "20", "scontrol", "show", "config"});
    facts.configuration = shown.code == 0 ? shown.text : "";
    const std::string plugins = setting(facts.configuration, "PluginDir");
    facts.absent_pmix = absent_pmix_libraries(plugins);
    facts.munge_answers = answers(munge_socket(facts.configuration));
  }
  return facts;
}

/// Searches the lines for `Name  = value`.
std::string setting(const std::string& configuration, const std::string& name) {
  std::istringstream lines(configuration);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || !line.starts_with(name) ||
        line.find_first_not_of(' ', name.size()) != equals) {
      continue;
    }
    const std::size_t begin = line.find_first_not_of(' ', equals + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

/// Judges the facts; skipped without a cluster.
std::vector<CheckResult> check_slurm(const SlurmFacts& facts,
                                     const launch::Environment& environment,
                                     const launch::MpiLibrary& mpi) {
  if (!facts.is_there) {
    return {{"slurm", Verdict::skipped,
             "there is no cluster here (srun, SLURM_CONF, /etc/slurm/slurm.conf)", ""}};
  }
  if (facts.configuration.empty()) {
    return {{"slurm", Verdict::fail, "no controller answers: " + facts.mpi_list.substr(0, 200),
             "check SLURM_CONF, `scontrol ping` and munge; on the controller: systemctl status "
             "slurmctld"},
            check_munge(facts)};
  }
  return {{"slurm", Verdict::ok,
           fmt::format("{}, cluster {}", setting(facts.configuration, "SLURM_VERSION"),
                       setting(facts.configuration, "ClusterName")),
           ""},
          check_plugin(facts),
          check_mpi_type(facts, environment, mpi),
          check_munge(facts)};
}

}  // namespace mpitron::doctor

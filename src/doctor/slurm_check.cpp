#include "doctor/slurm_check.h"

#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "utils/system/machine.h"

// How Slurm would start ranks here: its configuration, its default and munge, each asked of the
// programs and files of the installation.

namespace mpitron::doctor {
namespace {

constexpr const char* kConfiguration = "/etc/slurm/slurm.conf";
constexpr const char* kMungeSocket = "/run/munge/munge.socket.2";

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

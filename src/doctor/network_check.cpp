#include "doctor/network_check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

// Network interfaces, and the variables by which MPI and NCCL choose among them.

namespace mpitron::doctor {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) {
    if (!word.empty()) {
      words.push_back(word);
    }
  }
  return words;
}

/// Recognises bridges of containers and virtual machines by their usual names.
bool is_virtual(const Interface& one) {
  constexpr std::array kPrefixes = {"docker", "virbr",   "veth",   "br-",
                                    "cni",    "flannel", "podman", "lxc"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](const char* prefix) { return one.name.starts_with(prefix); });
}

bool is_usable(const Interface& one) {
  return one.up && !one.loopback && !one.addresses.empty();
}

template <class Rule>
std::vector<std::string> names_where(const std::vector<Interface>& interfaces, Rule&& rule) {
  std::vector<std::string> names;
  for (const Interface& one : interfaces) {
    if (rule(one)) {
      names.push_back(one.name);
    }
  }
  return names;
}

/// Returns whether a network such as "10.0.0.0/16" holds an address such as "10.0.3.4".
bool holds(const std::string& network, const std::string& address) {
  const std::size_t slash = network.find('/');
  int bits = -1;
  std::from_chars(network.data() + slash + 1, network.data() + network.size(), bits);
  in_addr base{}, own{};
  if (bits < 0 || bits > 32 || ::inet_pton(AF_INET, network.substr(0, slash).c_str(), &base) != 1 ||
      ::inet_pton(AF_INET, address.c_str(), &own) != 1) {
    return false;
  }
  const std::uint32_t mask = bits == 0 ? 0 : ~std::uint32_t{0} << (32 - bits);
  return ((ntohl(base.s_addr) ^ ntohl(own.s_addr)) & mask) == 0;
}

/// Judges a variable that chooses `chosen` of the interfaces.
CheckResult check_choice(const std::string& variable, const std::string& value,
                         const std::vector<std::string>& chosen,
                         const std::vector<Interface>& interfaces) {
  const auto usable = names_where(interfaces, is_usable);
  const bool works = std::any_of(chosen.begin(), chosen.end(), [&](const std::string& name) {
    return std::find(usable.begin(), usable.end(), name) != usable.end();
  });
  CheckResult result{variable, Verdict::ok,
                     fmt::format("{}={} means {}", variable, value, fmt::join(chosen, ", ")), ""};
  if (works) {
    return result;
  }
  result.verdict = Verdict::fail;
  result.found = chosen.empty()
                     ? fmt::format("{}={} fits no interface of this machine", variable, value)
                     : result.found + ", which is down or has no IPv4 address";
  result.advice = usable.empty() ? fmt::format("unset {}", variable)
                                 : fmt::format("export {}={} (up here: {})", variable, usable[0],
                                               fmt::join(usable, ", "));
  return result;
}

/// Judges what is there without variables: libraries choose an interface themselves, and with
/// several that can be wrong.
CheckResult check_unset(const std::vector<Interface>& interfaces) {
  const auto usable = names_where(interfaces, is_usable);
  const auto real = names_where(
      interfaces, [](const Interface& one) { return is_usable(one) && !is_virtual(one); });
  CheckResult result{"network", Verdict::ok, fmt::format("{}", fmt::join(usable, ", ")), ""};
  if (usable.empty()) {
    return {result.name, Verdict::warn, "only the loopback interface is up: one machine alone",
            "Slurm needs another address even then: ip link add d0 type bridge && ip addr add "
            "10.9.9.9/32 dev d0 && ip link set d0 up"};
  }
  if (real.size() < usable.size() && !real.empty()) {
    result.verdict = Verdict::warn;
    result.found += ": MPI and NCCL may try those of containers, which reach no other machine";
    result.advice = fmt::format("export OMPI_MCA_btl_tcp_if_include={0} NCCL_SOCKET_IFNAME={0}",
                                fmt::join(real, ","));
  }
  return result;
}

}  // namespace

/// Applies NCCL's pattern: prefixes, `=` for whole names, `^` for all others.
std::vector<std::string> nccl_choice(const std::string& pattern,
                                     const std::vector<Interface>& interfaces) {
  std::string rest = pattern;
  const bool others = rest.starts_with('^');
  rest.erase(0, others ? 1 : 0);
  const bool whole = rest.starts_with('=');
  rest.erase(0, whole ? 1 : 0);
  const std::vector<std::string> words = split(rest);
  return names_where(interfaces, [&](const Interface& one) {
    const bool fits = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return whole ? one.name == word : one.name.starts_with(word);
    });
    return fits != others;
  });
}

/// Applies Open MPI's list: names or networks.
std::vector<std::string> open_mpi_choice(const std::string& list,
                                         const std::vector<Interface>& interfaces) {
  const std::vector<std::string> words = split(list);
  return names_where(interfaces, [&](const Interface& one) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return word.find('/') == std::string::npos
                 ? word == one.name
                 : std::any_of(one.addresses.begin(), one.addresses.end(),
                               [&](const std::string& address) { return holds(word, address); });
    });
  });
}

/// Judges the variables: those that name no interface of this node are the usual cause of a hang at
/// the start.
std::vector<CheckResult> check_network(const std::vector<Interface>& interfaces,
                                       const launch::Environment& environment) {
  std::vector<CheckResult> results;
  if (const auto pattern = launch::text_of(environment, "NCCL_SOCKET_IFNAME")) {
    results.push_back(check_choice("NCCL_SOCKET_IFNAME", *pattern,
                                   nccl_choice(*pattern, interfaces), interfaces));
  }
  for (const std::string part : {"btl_tcp_if_", "oob_tcp_if_"}) {
    const std::string include = "OMPI_MCA_" + part + "include";
    const std::string exclude = "OMPI_MCA_" + part + "exclude";
    const auto list = launch::text_of(environment, include);
    if (list) {
      results.push_back(
          check_choice(include, *list, open_mpi_choice(*list, interfaces), interfaces));
    }
    if (list && environment.contains(exclude)) {
      results.push_back({exclude, Verdict::fail,
                         fmt::format("{} and {} exclude each other", include, exclude),
                         "unset " + exclude});
    }
  }
  if (results.empty()) {
    results.push_back(check_unset(interfaces));
  }
  return results;
}

}  // namespace mpitron::doctor

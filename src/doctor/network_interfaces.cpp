#include <algorithm>
#include <array>
#include <memory>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include "doctor/network_check.h"

// The network interfaces of a node, as the system lists them.

namespace mpitron::doctor {

/// Joins the system's entries, one an address, by interface; empty where the system tells none.
std::vector<Interface> read_interfaces() {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) {
    return {};
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(raw, &::freeifaddrs);
  std::vector<Interface> interfaces;
  for (const ifaddrs* entry = raw; entry != nullptr; entry = entry->ifa_next) {
    auto at = std::find_if(interfaces.begin(), interfaces.end(),
                           [&](const Interface& one) { return one.name == entry->ifa_name; });
    if (at == interfaces.end()) {
      const bool up = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_RUNNING) != 0;
      interfaces.push_back({entry->ifa_name, up, (entry->ifa_flags & IFF_LOOPBACK) != 0, {}});
      at = interfaces.end() - 1;
    }
    if (entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET) {
      std::array<char, INET_ADDRSTRLEN> text{};
      const auto* const address = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
      ::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size());
      at->addresses.emplace_back(text.data());
    }
  }
  return interfaces;
}

}  // namespace mpitron::doctor

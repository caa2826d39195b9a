#include "utils/system/faults.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include <unistd.h>

#include "utils/error.h"

namespace mpitron {
namespace {

// A handler can reach nothing but globals, and may neither allocate nor lock.
struct Mapping {
  std::atomic<std::uintptr_t> begin{0};
  std::uintptr_t end = 0;
  std::array<char, 512> path{};
};
std::array<Mapping, 1024> g_mappings;
std::mutex g_mutex;  // of writers

void say(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

void bus_error(int signal, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (const Mapping& mapping : g_mappings) {
    const std::uintptr_t begin = mapping.begin;
    if (begin != 0 && begin <= at && at < mapping.end) {
      say("mpitron: ");
      say(mapping.path.data());
      say(": cannot be read any more: it was made shorter while it was in use, or its disk "
          "fails\n");
      ::_exit(static_cast<int>(ExitCode::data));
    }
  }
  std::signal(signal, SIG_DFL);  // and the instruction fails again
}

}  // namespace

void tell_faults() {
  std::signal(SIGXFSZ, SIG_IGN);
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = &bus_error;
  ::sigaction(SIGBUS, &action, nullptr);
}

void outlive_readers() {
  std::signal(SIGPIPE, SIG_IGN);
}

void remember_mapping(const void* begin, std::size_t size, const std::filesystem::path& path) {
  const std::lock_guard lock(g_mutex);
  const auto free = std::ranges::find_if(g_mappings, [](const Mapping& m) { return m.begin == 0; });
  if (free == g_mappings.end()) {
    return;  // a fault there ends without a name
  }
  const std::string text = path.string();
  const std::size_t length = std::min(text.size(), free->path.size() - 1);
  std::memcpy(free->path.data(), text.data(), length);
  free->path[length] = '\0';
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  free->end = address + size;
  free->begin = address;
}

void forget_mapping(const void* begin) {
  const std::lock_guard lock(g_mutex);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  for (Mapping& mapping : g_mappings) {
    if (mapping.begin == address) {
      mapping.begin = 0;
    }
  }
}

}  // namespace mpitron

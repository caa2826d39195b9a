#include "doctor/library_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mpitron::doctor {
namespace {

/// "2.6" of "2.6.3": what promises the same interface.
std::string minor_of(const std::string& version) {
  const std::size_t first = version.find('.');
  return version.substr(0, first == std::string::npos ? first : version.find('.', first + 1));
}

}  // namespace

CheckResult check_libraries(const std::vector<LibraryVersion>& libraries) {
  std::vector<std::string> found, exchanged;
  for (const LibraryVersion& library : libraries) {
    const std::string& version = library.running.empty() ? library.built : library.running;
    found.push_back(version.empty() ? library.name : library.name + " " + version);
    if (!library.built.empty() && !library.running.empty() &&
        minor_of(library.built) != minor_of(library.running)) {
      exchanged.push_back(fmt::format("{} (built with {})", found.back(), library.built));
    }
  }
  if (exchanged.empty()) {
    return {"libraries", Verdict::ok, fmt::format("{}", fmt::join(found, ", ")), ""};
  }
  return {
      "libraries", Verdict::fail, fmt::format("loaded {}", fmt::join(exchanged, ", ")),
      "build again on this machine (make build), or put the folder of the libraries that it was "
      "built with first in LD_LIBRARY_PATH"};
}

}  // namespace mpitron::doctor

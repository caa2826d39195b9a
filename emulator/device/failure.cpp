#include "emulator/device/failure.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

namespace mpitron::emulator {

void fail(const std::string& message) {
  std::fprintf(stderr, "emulated GPU: %s\n", message.c_str());
  std::array<void*, 64> calls;
  backtrace_symbols_fd(calls.data(), backtrace(calls.data(), static_cast<int>(calls.size())),
                       STDERR_FILENO);
  std::abort();
}

/// Kernels lie in unnamed namespaces, so that only the symbol table of the file knows them.
std::string name_of_function(const void* function) {
  Dl_info file{};
  if (dladdr(function, &file) == 0) {
    return "unknown";
  }
  std::ostringstream command;
  command << "addr2line -f -C -e '" << file.dli_fname << "' 0x" << std::hex
          << reinterpret_cast<std::uintptr_t>(function) -
                 reinterpret_cast<std::uintptr_t>(file.dli_fbase);
  std::array<char, 1024> name{};
  if (FILE* lines = popen(command.str().c_str(), "r"); lines != nullptr) {
    if (std::fgets(name.data(), static_cast<int>(name.size()), lines) == nullptr) {
      name[0] = '\0';
    }
    pclose(lines);
  }
  std::string text(name.data());
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  for (std::size_t at = text.find(kUnnamed); at != std::string::npos; at = text.find(kUnnamed)) {
    text.erase(at, kUnnamed.size());
  }
  return text.substr(0, text.find_first_of("(\n"));
}

}  // namespace mpitron::emulator

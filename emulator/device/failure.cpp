// Tells faults of emulated GPUs, with the kernel's name and the calls that led to them. Addresses
// are checked by asking the kernel of the system whether anything is mapped there.
#include "emulator/device/failure.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulator/device/device_memory.h"

namespace mpitron::emulator {

void fail(const std::string& message) {
  std::fprintf(stderr, "emulated GPU: %s\n", message.c_str());
  std::array<void*, 64> calls;
  backtrace_symbols_fd(calls.data(), backtrace(calls.data(), static_cast<int>(calls.size())),
                       STDERR_FILENO);
  std::abort();
}

/// Finds a function's name in the symbol table of the file: kernels lie in unnamed namespaces,
/// which no dynamic symbol names.
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

namespace {

/// Bounds of the addresses where programs, heaps and stacks lie; a word outside of them is taken
/// for a number.
constexpr std::uintptr_t kFirst = 0x1000'0000'0000, kLast = 0x7fff'ffff'ffff;

bool is_host_memory(std::uintptr_t address) {
  if (address < kFirst || address > kLast) {
    return false;
  }
  auto* page = reinterpret_cast<void*>(address / 4096 * 4096);
  unsigned char resident = 0;
  return !is_device_memory(page) && !is_pinned_memory(reinterpret_cast<const void*>(address)) &&
         mincore(page, 1, &resident) == 0;
}

}  // namespace

void check_addresses(const void* kernel, const void* argument, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, static_cast<const char*>(argument) + at, sizeof word);
    if (is_host_memory(word)) {
      fail(std::string("kernel ")
               .append(name_of_function(kernel))
               .append(" was given an address of host memory"));
    }
  }
}

}  // namespace mpitron::emulator

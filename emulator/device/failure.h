#pragma once

#include <cstddef>
#include <string>

namespace mpitron::emulator {

/// A fault that a GPU answers with an undefined result: says what is wrong, prints the calls that
/// led here, and aborts.
[[noreturn]] void fail(const std::string& message);

/// Returns the name of a function of this program, for messages.
std::string name_of_function(const void* function);

/// `fail` where the bytes of a kernel's argument hold an address of pageable host memory, which a
/// GPU cannot reach. Numbers that look like one are told apart by whether anything lies there.
void check_addresses(const void* kernel, const void* argument, std::size_t bytes);

/// Checks an argument of any type; its padding is cleared first, as stale bytes may look like an
/// address.
template <class T>
void check_reachable(const void* kernel, T argument) {
  __builtin_clear_padding(&argument);
  check_addresses(kernel, &argument, sizeof argument);
}

}  // namespace mpitron::emulator

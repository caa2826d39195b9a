#pragma once
#include <string>

namespace mpitron::emulator {

/// A fault that a GPU answers with an undefined result: says what is wrong, prints the calls that
/// led here, and aborts.
[[noreturn]] void fail(const std::string& message);

/// The name of a function of this program, for messages.
std::string name_of_function(const void* function);

}  // namespace mpitron::emulator

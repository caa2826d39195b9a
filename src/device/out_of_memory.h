#pragma once
#include "utils/error.h"

namespace mpitron::device {

/// A device has no memory left; the message says what was asked for, and where the rest is.
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& message) : Error(ExitCode::environment, message) {}
};

}  // namespace mpitron::device

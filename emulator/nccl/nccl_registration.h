#pragma once
#include <cstddef>
#include <map>

namespace mpitron::emulator {

/// Memory that one communicator has registered (ncclCommRegister). Every error ends the process.
class Registrations {
 public:
  Registrations() = default;
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;
  ~Registrations();

  /// Registers memory and returns its handle; it must be a part of a block of ncclMemAlloc, and not
  /// registered already.
  void* add(void* memory, std::size_t bytes);
  void remove(void* handle);
  /// Tells whether all of it is registered, and still there; true of no bytes.
  bool hold(const void* memory, std::size_t bytes) const;
  /// Checks that nothing is registered when a communicator ends.
  void expect_none() const;

 private:
  std::map<const std::byte*, std::size_t> ranges_;
};

}  // namespace mpitron::emulator

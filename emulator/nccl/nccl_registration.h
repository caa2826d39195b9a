#pragma once
#include <cstddef>
#include <map>

namespace mpitron::emulator {

/// The memory that one communicator has registered. Every error ends the process.
class Registrations {
 public:
  Registrations() = default;
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;
  ~Registrations();

  /// A handle; the memory must be a part of a block of ncclMemAlloc, and not registered already.
  void* add(void* memory, std::size_t bytes);
  void remove(void* handle);
  /// Whether all of it is registered, and still there; true of no bytes.
  bool hold(const void* memory, std::size_t bytes) const;
  /// A communicator ends.
  void expect_none() const;

 private:
  std::map<const std::byte*, std::size_t> ranges_;
};

}  // namespace mpitron::emulator

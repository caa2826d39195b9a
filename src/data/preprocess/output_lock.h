#pragma once
#include <string>

namespace mpitron::data {

/// Holds `path + ".lock"` while output files of that name are written, so that two runs cannot mix.
/// The file goes away at the end; one left by a killed run is no obstacle.
class OutputLock {
 public:
  /// Error(data) when another process holds it or the folder cannot be written.
  explicit OutputLock(const std::string& path);
  ~OutputLock();
  OutputLock(OutputLock&& other) noexcept;
  OutputLock& operator=(OutputLock&&) = delete;

 private:
  std::string file_;
  int descriptor_ = -1;
};

}  // namespace mpitron::data

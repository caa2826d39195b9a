#pragma once
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "inference/engine_interface.h"

namespace mpitron::inference {

/// An adapter that requests may name as their model.
struct ServedAdapter {
  std::string name;
  std::string folder;
  AdapterHandle adapter;
  std::int64_t created = 0;  // seconds since 1970
  Index requests = 0;        // that have named it
};

/// Now, in seconds since 1970.
std::int64_t unix_seconds();

/// What a name of an adapter is, to be told who gave another.
inline constexpr const char* kAdapterNames =
    "a name has 1 to 128 letters, digits and characters of . _ : - /";
bool is_adapter_name(const std::string& name);

/// The adapters beside a served model. Those that run go on when they are taken away: requests hold
/// them. Any thread may call.
class ServedAdapters {
 public:
  /// Makes an adapter of a folder, on the engine's thread.
  using Reader = std::function<AdapterHandle(const std::string& folder)>;

  ServedAdapters() = default;
  /// `read`: absent where no adapter comes or goes while requests are answered.
  ServedAdapters(std::vector<ServedAdapter> adapters, Reader read)
      : read_(std::move(read)), adapters_(std::move(adapters)) {}

  bool change() const { return read_ != nullptr; }
  std::vector<ServedAdapter> all() const;
  std::optional<ServedAdapter> find(const std::string& name) const;
  /// The same for a request, which counts.
  AdapterHandle take(const std::string& name);

  /// On the engine's thread. RequestError(400) for a name that is none or that an adapter has, and
  /// for a folder that cannot be read.
  ServedAdapter load(const std::string& name, const std::string& folder);
  /// RequestError(404) where there is none.
  ServedAdapter unload(const std::string& name);

 private:
  Reader read_;
  mutable std::mutex mutex_;
  std::vector<ServedAdapter> adapters_;
};

}  // namespace mpitron::inference

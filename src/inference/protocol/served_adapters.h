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

/// Returns the time now, in seconds since 1970.
std::int64_t unix_seconds();

/// Says what names an adapter may have, for the message to who gave another.
inline constexpr const char* kAdapterNames =
    "a name has 1 to 128 letters, digits and characters of . _ : - /";
/// Whether `name` may be an adapter's: it stands in URLs, in Prometheus' labels and in logs, so it
/// has no character that these would have to escape.
bool is_adapter_name(const std::string& name);

/// The adapters beside a served model. Requests hold the adapter they were given, so answers go on
/// when it is taken away. Any thread may call.
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
  /// Returns a request's adapter and counts the request; null where there is none of the name.
  AdapterHandle take(const std::string& name);

  /// Loads an adapter, on the engine's thread. RequestError(400) for a name that is none or that an
  /// adapter has already, and for a folder that cannot be read.
  ServedAdapter load(const std::string& name, const std::string& folder);
  /// Takes an adapter out of the list and returns its row; RequestError(404) where there is none.
  ServedAdapter unload(const std::string& name);

 private:
  Reader read_;
  mutable std::mutex mutex_;
  std::vector<ServedAdapter> adapters_;
};

}  // namespace mpitron::inference

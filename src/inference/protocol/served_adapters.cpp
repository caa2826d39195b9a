// Keeps the list of adapters that requests may name. Files are read outside of the lock: only the
// engine's thread loads, so no second adapter of the name can appear meanwhile.
#include "inference/protocol/served_adapters.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "inference/protocol/fields.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace {

template <class Adapters>
auto place_of(Adapters& adapters, const std::string& name) {
  return std::ranges::find(adapters, name, &ServedAdapter::name);
}

}  // namespace

std::int64_t unix_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

bool is_adapter_name(const std::string& name) {
  constexpr std::size_t kLongest = 128;
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, [](unsigned char c) {
    return c < 0x80 &&
           (std::isalnum(c) != 0 ||
            std::string_view("._:-/").find(static_cast<char>(c)) != std::string_view::npos);
  });
}

std::vector<ServedAdapter> ServedAdapters::all() const {
  const std::lock_guard lock(mutex_);
  return adapters_;
}

std::optional<ServedAdapter> ServedAdapters::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = place_of(adapters_, name);
  return found == adapters_.end() ? std::nullopt : std::optional(*found);
}

AdapterHandle ServedAdapters::take(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = place_of(adapters_, name);
  if (found == adapters_.end()) {
    return nullptr;
  }
  ++found->requests;
  return found->adapter;
}

ServedAdapter ServedAdapters::load(const std::string& name, const std::string& folder) {
  if (!is_adapter_name(name)) {
    throw RequestError(400, fmt::format("lora_name {}: {}", name, kAdapterNames), "lora_name");
  }
  if (find(name)) {
    throw RequestError(400, fmt::format("there is an adapter {} already; unload it first", name),
                       "lora_name");
  }
  ServedAdapter adapter{.name = name, .folder = folder, .adapter = nullptr};
  try {
    adapter.adapter = read_(folder);
  } catch (const Error& error) {
    throw RequestError(400, error.what(), "lora_path");
  }
  adapter.created = unix_seconds();
  const std::lock_guard lock(mutex_);
  adapters_.push_back(adapter);
  return adapter;
}

ServedAdapter ServedAdapters::unload(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = place_of(adapters_, name);
  if (found == adapters_.end()) {
    throw RequestError(404, fmt::format("there is no adapter {}", name), "lora_name",
                       "model_not_found");
  }
  ServedAdapter gone = std::move(*found);
  adapters_.erase(found);
  return gone;
}

}  // namespace mpitron::inference

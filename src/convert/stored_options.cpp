#include "convert/stored_options.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "utils/json_nesting.h"

namespace mpitron::convert {
namespace {

using Json = nlohmann::ordered_json;

bool fits(const Json& value, bool) {
  return value.is_boolean();
}

bool fits(const Json& value, Index) {
  return value.is_number_integer() ||
         (value.is_number() && std::trunc(value.get<double>()) == value.get<double>());
}

bool fits(const Json& value, double) {
  return value.is_number();
}

bool fits(const Json& value, const std::string&) {
  return value.is_string();
}

}  // namespace

struct StoredOptions::Data {
  Json json;

  /// Null where it is absent.
  const Json* find(const char* name) const {
    const auto found = json.find(name);
    return found == json.end() || found->is_null() ? nullptr : &*found;
  }
  template <class T>
  bool read(const char* name, const std::string& source, T& into) const {
    const Json* found = find(name);
    if (found == nullptr) {
      return false;
    }
    if (!fits(*found, into)) {
      throw_data("{}: {} has the value {}, which is of another kind", source, name, found->dump());
    }
    if constexpr (std::is_same_v<T, Index>) {
      if (std::abs(found->get<double>()) > static_cast<double>(kLargestSize)) {
        throw_data("{}: {} is {}, allowed are at most {}", source, name, found->dump(),
                   kLargestSize);
      }
    }
    into = found->get<T>();
    return true;
  }
};

StoredOptions::StoredOptions(const std::string& text, std::string source)
    : data_(std::make_unique<Data>()), source_(std::move(source)) {
  data_->json = nests_too_deep(text) ? Json() : Json::parse(text, nullptr, false);
  if (!data_->json.is_object()) {
    throw_data("{}: the configuration is no JSON object", source_);
  }
}

StoredOptions::~StoredOptions() = default;

bool StoredOptions::read(const char* name, bool& into) const {
  return data_->read(name, source_, into);
}

bool StoredOptions::read(const char* name, Index& into) const {
  return data_->read(name, source_, into);
}

bool StoredOptions::read(const char* name, double& into) const {
  return data_->read(name, source_, into);
}

bool StoredOptions::read(const char* name, std::string& into) const {
  return data_->read(name, source_, into);
}

std::string StoredOptions::text(const char* name) const {
  const Json* found = data_->find(name);
  return found == nullptr ? "" : found->is_string() ? found->get<std::string>() : found->dump();
}

}  // namespace mpitron::convert

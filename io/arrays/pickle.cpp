#include "io/arrays/pickle.h"

#include "io/arrays/pickle_machine.h"

namespace mpitron::io {

std::string PickleValue::global_name() const {
  if (kind == Kind::global) {
    return std::string(text) + "." + std::string(member);
  }
  const bool of_global =
      kind == Kind::object && callable != nullptr && callable->kind == Kind::global;
  return of_global ? callable->global_name() : "";
}

const PickleValue* PickleValue::find(std::string_view key) const {
  const PickleValue* dict =
      kind == Kind::object && state != nullptr && state->kind == Kind::dict ? state : this;
  for (std::size_t i = 0; i + 1 < dict->entries.size(); i += 2) {
    if (dict->entries[i]->kind == Kind::text && dict->entries[i]->text == key) {
      return dict->entries[i + 1];
    }
  }
  return nullptr;
}

Pickle::Pickle(std::span<const std::byte> bytes, std::string source) : source_(std::move(source)) {
  root_ = run_pickle(bytes, source_, values_);
}

}  // namespace mpitron::io

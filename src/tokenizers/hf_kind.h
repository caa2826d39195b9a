#pragma once
#include <span>
#include <string>
#include <string_view>

#include "tokenizers/json_view.h"

namespace mpitron::tokenizers {

/// A kind of rule in a tokenizer.json: what its "type" says, and what makes it of its object.
template <class Rule>
struct HfKind {
  std::string_view name;
  Rule (*make)(const JsonView& spec);
};

/// The kind of `spec`, which is a `what` ("decoder"). Error (data): it is none of these.
template <class Rule>
const HfKind<Rule>& kind_of(const JsonView& spec, std::span<const HfKind<Rule>> kinds,
                            std::string_view what) {
  const JsonView type = spec.at("type");
  std::string names;
  for (const HfKind<Rule>& kind : kinds) {
    if (kind.name == type.text()) {
      return kind;
    }
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  }
  type.refuse("this " + std::string(what) + " is not supported; supported are " + names);
}

}  // namespace mpitron::tokenizers

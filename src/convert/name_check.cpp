#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "convert/translation.h"
#include "utils/error.h"

// Checks that every tensor of one side has a counterpart of the same shape on the other.

namespace mpitron::convert {
namespace {

bool same_bytes(const HostTensor& a, const HostTensor& b) {
  return a.dtype() == b.dtype() && std::ranges::equal(a.bytes(), b.bytes());
}

/// Compares bits: a negative zero counts as a value.
bool is_zero(const HostTensor& tensor) {
  return std::ranges::all_of(tensor.bytes(), [](std::byte b) { return b == std::byte{0}; });
}

/// Checks that repetitions repeat: a tied matrix that differs is a weight that would get lost.
void check_aliases(TensorSource& theirs, const NameTable& table, NameCheck& check,
                   std::set<std::string>& known) {
  for (const NameAlias& alias : table.aliases) {
    const TensorInfo* repeated = find_theirs(theirs, table, alias.repeated);
    const TensorInfo* original = find_theirs(theirs, table, alias.original);
    if (repeated == nullptr || original == nullptr) {
      continue;
    }
    known.insert(repeated->name);
    check.ignored.push_back(repeated->name);
    if (!same_bytes(theirs.read(repeated->name), theirs.read(original->name))) {
      check.mismatched.push_back(
          fmt::format("{} should repeat {}, as tie_word_embeddings says, and differs",
                      repeated->name, original->name));
    }
  }
}

/// Notes a tensor that is missing or has another shape than the configuration gives it.
void check_shape(const TensorInfo* info, const std::string& name, const Shape& expected,
                 NameCheck& check) {
  if (info == nullptr) {
    check.missing.push_back(name);
  } else if (info->shape != expected) {
    check.mismatched.push_back(fmt::format("{}: its shape is {}, the configuration gives {}", name,
                                           to_string(info->shape), to_string(expected)));
  }
}

}  // namespace

/// Returns a line for each problem, an empty text where there is none; weights without a
/// counterpart are one where `strict`.
std::string NameCheck::problems(bool strict) const {
  std::string text;
  for (const std::string& name : missing) {
    text += "\n  missing: " + name;
  }
  for (const std::string& what : mismatched) {
    text += "\n  wrong: " + what;
  }
  for (const std::string& name : unmapped) {
    text += strict ? "\n  without a counterpart: " + name : "";
  }
  return text;
}

/// Reads tensors only to compare repetitions with what they repeat.
NameCheck check_theirs(TensorSource& theirs, const NameTable& table) {
  NameCheck check;
  std::set<std::string> known;
  for (const NameRule& rule : table.rules) {
    for (const NameRule::Part& part : rule.theirs) {
      const TensorInfo* info = find_theirs(theirs, table, part.name);
      check_shape(info, part.name, rule.shape_of(part), check);
      if (info != nullptr) {
        known.insert(info->name);
      }
    }
  }
  check_aliases(theirs, table, check, known);
  for (const TensorInfo& info : theirs.tensors()) {
    if (!known.contains(info.name)) {
      (table.is_weight(info.name) ? check.unmapped : check.ignored).push_back(info.name);
    }
  }
  return check;
}

/// Reads those of ours that they have no place for: they may only be zeros.
NameCheck check_ours(TensorSource& ours, const NameTable& table) {
  NameCheck check;
  std::set<std::string> known;
  for (const NameRule& rule : table.rules) {
    const TensorInfo* info = ours.find(rule.ours);
    check_shape(info, rule.ours, rule.shape, check);
    known.insert(rule.ours);
    if (rule.theirs.empty() && info != nullptr && !is_zero(ours.read(rule.ours))) {
      check.mismatched.push_back(
          fmt::format("{}: it is not zero, and theirs have no such tensor", rule.ours));
    }
  }
  for (const TensorInfo& info : ours.tensors()) {
    if (!known.contains(info.name)) {
      check.unmapped.push_back(info.name);
    }
  }
  return check;
}

}  // namespace mpitron::convert

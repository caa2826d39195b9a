#include "convert/translation.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "utils/error.h"

// Shows a source under other names: each read of a tensor reads its counterparts and moves their
// rows, so that a conversion holds one tensor at a time.

namespace mpitron::convert {
namespace {

/// Finds a tensor by their name as the file has it; null where it is absent.
const TensorInfo* find_theirs(const TensorSource& theirs, const NameTable& table,
                              const std::string& name) {
  if (const TensorInfo* info = theirs.find(name)) {
    return info;
  }
  const std::string& prefix = table.optional_prefix;
  const bool shorter = !prefix.empty() && name.starts_with(prefix);
  return shorter ? theirs.find(name.substr(prefix.size())) : nullptr;
}

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
    const TensorInfo* repeated = theirs.find(alias.repeated);
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

/// Theirs, seen as ours. The table has been checked: every tensor it names is there.
class OurView : public TensorSource {
 public:
  OurView(TensorSource& theirs, const NameTable& table) : theirs_(theirs), table_(table) {
    for (const NameRule& rule : table.rules) {
      rule_of_[rule.ours] = &rule;
      tensors_.push_back({rule.ours, rule.shape, dtype_of(rule)});
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  HostTensor read(const std::string& name) override {
    const NameRule& rule = *rule_of_.at(name);
    if (rule.theirs.empty()) {
      return HostTensor({rule.ours, rule.shape, dtype_of(rule)});
    }
    std::vector<HostTensor> parts;
    for (const NameRule::Part& part : rule.theirs) {
      parts.push_back(theirs_.read(find_theirs(theirs_, table_, part.name)->name));
      if (parts.back().dtype() != parts.front().dtype()) {
        throw_data("{} and {} have different types; choose one with --dtype", rule.theirs[0].name,
                   part.name);
      }
    }
    return join(rule, parts);
  }

 private:
  /// Returns the type of theirs; a tensor that they do not have is of the type of their first one.
  DType dtype_of(const NameRule& rule) const {
    const NameRule& source = rule.theirs.empty() ? table_.rules.front() : rule;
    const TensorInfo* first = find_theirs(theirs_, table_, source.theirs.at(0).name);
    MPITRON_CHECK(first != nullptr, rule.ours);
    return first->dtype;
  }

  TensorSource& theirs_;
  const NameTable& table_;
  std::map<std::string, const NameRule*> rule_of_;
  std::vector<TensorInfo> tensors_;
};

/// Ours, seen as theirs, part by part.
class TheirView : public TensorSource {
 public:
  TheirView(TensorSource& ours, const NameTable& table) : ours_(ours), table_(table) {
    for (const NameRule& rule : table.rules) {
      const TensorInfo* info = ours.find(rule.ours);
      MPITRON_CHECK(info != nullptr, rule.ours);
      for (std::size_t i = 0; i < rule.theirs.size(); ++i) {
        part_of_[rule.theirs[i].name] = {&rule, i};
        tensors_.push_back({rule.theirs[i].name, rule.shape_of(rule.theirs[i]), info->dtype});
      }
    }
    for (const NameTable::Unused& vector : table.unused) {
      tensors_.push_back({vector.name, {vector.size}, tensors_.front().dtype});
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  HostTensor read(const std::string& name) override {
    if (table_.is_unused(name)) {
      return constant(name);
    }
    const auto& [rule, part] = part_of_.at(name);
    if (rule != last_rule_) {
      last_.reset();  // before the next one is in memory
      last_ = ours_.read(rule->ours);
      last_rule_ = rule;
    }
    return take_part(*rule, *last_, part);
  }

 private:
  /// Makes a vector that nothing is computed with, in the type of the others.
  HostTensor constant(const std::string& name) const {
    const auto vector = std::ranges::find(table_.unused, name, &NameTable::Unused::name);
    HostTensor result(TensorInfo{name, {vector->size}, DType::f32});
    std::fill_n(reinterpret_cast<float*>(result.data()), vector->size, vector->value);
    return cast(result, tensors_.front().dtype);
  }

  TensorSource& ours_;
  const NameTable& table_;
  std::map<std::string, std::pair<const NameRule*, std::size_t>> part_of_;
  std::vector<TensorInfo> tensors_;
  const NameRule* last_rule_ = nullptr;
  std::optional<HostTensor> last_;  // the parts of a rule are read one after the other
};

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

std::unique_ptr<TensorSource> to_ours(TensorSource& theirs, const NameTable& table) {
  return std::make_unique<OurView>(theirs, table);
}

std::unique_ptr<TensorSource> to_theirs(TensorSource& ours, const NameTable& table) {
  return std::make_unique<TheirView>(ours, table);
}

}  // namespace mpitron::convert

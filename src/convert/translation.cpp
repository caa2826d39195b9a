#include "convert/translation.h"

#include <algorithm>
#include <map>
#include <optional>

#include "utils/error.h"

// Shows a source under other names: each read of a tensor reads its counterparts and moves their
// rows, so that a conversion holds one tensor at a time.

namespace mpitron::convert {
namespace {

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

const TensorInfo* find_theirs(const TensorSource& theirs, const NameTable& table,
                              const std::string& name) {
  for (const std::string& spelled : table.spelled(name)) {
    if (const TensorInfo* info = theirs.find(spelled)) {
      return info;
    }
  }
  return nullptr;
}

std::unique_ptr<TensorSource> to_ours(TensorSource& theirs, const NameTable& table) {
  return std::make_unique<OurView>(theirs, table);
}

std::unique_ptr<TensorSource> to_theirs(TensorSource& ours, const NameTable& table) {
  return std::make_unique<TheirView>(ours, table);
}

}  // namespace mpitron::convert

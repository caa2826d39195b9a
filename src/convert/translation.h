#pragma once
#include <memory>
#include <string>
#include <vector>

#include "convert/formats/tensor_source.h"
#include "convert/names/name_table.h"

namespace mpitron::convert {

/// The result of holding the tensors of a file against a table.
struct NameCheck {
  std::vector<std::string> missing;     // of the table, not in the file
  std::vector<std::string> mismatched;  // with both shapes
  std::vector<std::string> unmapped;    // in the file, not in the table
  std::vector<std::string> ignored;     // no weights, or repetitions

  /// Returns a line for each that makes a conversion wrong; `strict`: unmapped ones too. Empty:
  /// none.
  std::string problems(bool strict) const;
};

/// Holds their names and shapes against the table. Tensors are read only to compare repetitions
/// with what they repeat.
NameCheck check_theirs(TensorSource& theirs, const NameTable& table);
/// Holds ours against the table. Tensors that theirs do not have are read, and must be zero.
NameCheck check_ours(TensorSource& ours, const NameTable& table);

/// Returns our tensors, made from theirs while they are read. Source and table outlive the result.
std::unique_ptr<TensorSource> to_ours(TensorSource& theirs, const NameTable& table);
/// Returns their tensors, made from ours while they are read. Source and table outlive the result.
std::unique_ptr<TensorSource> to_theirs(TensorSource& ours, const NameTable& table);

/// Makes our tensor from all of theirs, in the order of the rule: rows are moved, transposed or
/// padded with zeros; values change only by a rule's factor.
HostTensor join(const NameRule& rule, const std::vector<HostTensor>& theirs);
/// Takes one of theirs from ours, the `part`-th of the rule. The inverse of `join`, bit for bit.
HostTensor take_part(const NameRule& rule, const HostTensor& ours, std::size_t part);

/// Finds a tensor by their name as the file has it; null where it is absent.
const TensorInfo* find_theirs(const TensorSource& theirs, const NameTable& table,
                              const std::string& name);

}  // namespace mpitron::convert

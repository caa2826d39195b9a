#pragma once
#include <memory>
#include <string>
#include <vector>

#include "convert/formats/tensor_source.h"
#include "convert/names/name_table.h"

namespace mpitron::convert {

/// How the tensors of a file and a table fit.
struct NameCheck {
  std::vector<std::string> missing;     // of the table, not in the file
  std::vector<std::string> mismatched;  // with both shapes
  std::vector<std::string> unmapped;    // in the file, not in the table
  std::vector<std::string> ignored;     // no weights, or repetitions

  /// One line for each that makes a conversion wrong; `strict`: unmapped ones too. Empty: none.
  std::string problems(bool strict) const;
};

/// Their names and shapes against the table; no tensor is read.
NameCheck check_theirs(TensorSource& theirs, const NameTable& table);
/// Ours against the table. What theirs do not have must be zero.
NameCheck check_ours(TensorSource& ours, const NameTable& table);

/// Our tensors, made from theirs while they are read.
std::unique_ptr<TensorSource> to_ours(TensorSource& theirs, const NameTable& table);
/// Their tensors, made from ours while they are read.
std::unique_ptr<TensorSource> to_theirs(TensorSource& ours, const NameTable& table);

/// Our tensor from all of theirs, in the order of the rule: rows are moved, transposed or padded
/// with zeros, no value changes.
HostTensor join(const NameRule& rule, const std::vector<HostTensor>& theirs);
/// One of theirs from ours, the `part`-th of the rule.
/// The inverse of `join`, bit for bit.
HostTensor take_part(const NameRule& rule, const HostTensor& ours, std::size_t part);

}  // namespace mpitron::convert

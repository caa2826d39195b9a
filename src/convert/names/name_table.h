#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/description/model_description.h"
#include "convert/names/name_entry.h"
#include "convert/names/row_orders.h"

namespace mpitron::convert {

/// How one of our tensors and one or more of another format hold the same numbers. A rule is read
/// in both directions: an import moves rows from theirs to ours, an export moves the same rows
/// back, so that a table is its own inverse.
struct NameRule {
  struct Part {
    std::string name;
    Index rows = 0;
    double factor = 1;  // ours are so many times theirs; a power of two
  };

  std::string ours;
  Shape shape;  // of ours, [rows], [rows, columns] or [rows, 1, columns] of a convolution; rows
                // that no move reaches are padding
  std::vector<Part> theirs;  // none: they have no such tensor, and ours must be zero
  bool transposed = false;   // theirs are [columns, rows]
  std::optional<Shape> shape_of_theirs = {};  // where it is another one for the same numbers
  Index planes = 1;  // of a row of theirs, one behind the other; ours has their elements in turn
  std::vector<RowMove> moves;

  /// Elements of a row.
  Index columns() const { return shape.rank() > 1 ? shape[shape.rank() - 1] : 1; }
  /// Rows of all their parts together.
  Index rows_of_theirs() const;
  /// The shape that a part has in their file.
  Shape shape_of(const Part& part) const;
};

/// A tensor of theirs that repeats another one: the tied output matrix.
struct NameAlias {
  std::string repeated, original;
};

/// The rules of one model of a family, and what its files have besides.
struct NameTable {
  std::vector<NameRule> rules;
  std::vector<NameAlias> aliases;
  std::span<const Spelling> spellings = {};  // of their names; the first that is there is taken
  /// Ends of names of tensors that hold no weights: masks, tables that follow from the sizes.
  std::vector<std::string> not_weights;
  /// Beginnings of names of a part that this program has not, whose weights stay behind.
  std::span<const char* const> left_out = {};
  /// Their vectors of numbers that nothing is computed with: written, and not read.
  struct Unused {
    std::string name;
    Index size = 0;
    float value = 0;
  };
  std::vector<Unused> unused = {};
  /// Prefix of numbered layers of theirs; from end_of_layers on nothing is computed with them.
  std::string layers_with_end = {};
  Index end_of_layers = 0;

  /// Returns how files may spell a name of the table, the usual one first.
  std::vector<std::string> spelled(const std::string& their_name) const;
  /// Returns whether a tensor that no rule names, however it is spelled, is a weight that would get
  /// lost.
  bool is_weight(std::string_view stored_name) const;
  /// Returns whether the tensor is one of `unused`.
  bool is_unused(std::string_view their_name) const;
};

/// Returns the families that have a table, as config.json names them in `model_type`.
std::vector<std::string_view> model_types();

/// Returns how gate and up lie in the family's files where these hold all experts of a layer as one
/// tensor, which its table names as formats/stacked_experts.h takes them apart. Error(data) for
/// other families than model_types().
std::optional<GateColumns> stacked_experts(std::string_view model_type);

/// Returns the table of a family for a model of this shape. Error(data) where the family cannot
/// hold such a model: it says what would have to be different.
NameTable make_name_table(std::string_view model_type, const ModelDescription& description);

/// The table of CLIP's or SigLIP's image encoder alone, with the description's sizes. Their names
/// begin with `prefix` in place of LLaVA's "vision_tower.vision_model.".
NameTable make_encoder_table(const ModelDescription& description, const std::string& prefix);

/// Returns the family whose tensors look like the description's; empty if none does.
std::string_view matching_model_type(const ModelDescription& description);

}  // namespace mpitron::convert

#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "utils/check.h"
#include "utils/numbers/shape.h"

namespace mpitron::models {

/// The name of something that samples have: of a column on the host, whose numbers are T, and of a
/// tensor of a batch on the device. Every family of models lists those that it reads.
template <class T>
struct Field {
  std::string_view name;
};

// Of texts, [b, s] on the host:
inline constexpr Field<std::int64_t> kTokens{"tokens"};
inline constexpr Field<std::int64_t> kPositionIds{"position_ids"};  // absent: 0, 1, 2, ...
inline constexpr Field<std::int64_t> kLabels{"labels"};  // absent: only logits are wanted
inline constexpr Field<float> kLossMask{"loss_mask"};    // like labels
inline constexpr Field<std::int64_t> kPaddingMask{"padding_mask"};  // 1 = token; absent: all are
inline constexpr Field<std::uint8_t> kAttentionMask{
    "attention_mask"};  // [b, s, s], 1 = hidden; absent: none is
// On the device alone, [whole s, b]: where the document of each position begins, of the mask above.
inline constexpr Field<std::int32_t> kDocumentStarts{"document_starts"};
// Of images:
inline constexpr Field<float> kPixels{"pixels"};  // [b, 3, height, width]

/// Columns of samples by name, row by row. The memory is that of who reads them.
class Columns {
 public:
  struct Column {
    std::string_view name;
    std::variant<std::span<const std::int64_t>, std::span<const float>,
                 std::span<const std::uint8_t>>
        values;

    template <class T>
    Column(Field<T> field, std::type_identity_t<std::span<const T>> numbers)
        : name(field.name), values(numbers) {}
  };

  Columns() = default;
  Columns(std::initializer_list<Column> columns) : columns_(columns) {}

  bool empty() const { return columns_.empty(); }
  /// Empty where the samples lack it.
  template <class T>
  std::span<const T> operator[](Field<T> field) const;
  /// Replaces or adds it.
  template <class T>
  void set(Field<T> field, std::type_identity_t<std::span<const T>> numbers);

 private:
  std::vector<Column> columns_;
};

/// A microbatch as the data layer hands it out: rows are samples.
struct HostMicrobatch {
  Index samples = 0;          // b
  Index sequence_length = 0;  // s
  Index first_sample = 0;     // global index of row 0
  Columns columns = {};       // empty on a rank that does not read

  template <class T>
  std::span<const T> operator[](Field<T> field) const {
    return columns[field];
  }
};

template <class T>
std::span<const T> Columns::operator[](Field<T> field) const {
  for (const Column& column : columns_) {
    if (column.name == field.name) {
      return std::get<std::span<const T>>(column.values);
    }
  }
  return {};
}

template <class T>
void Columns::set(Field<T> field, std::type_identity_t<std::span<const T>> numbers) {
  std::erase_if(columns_, [&](const Column& column) { return column.name == field.name; });
  columns_.emplace_back(field, numbers);
}

}  // namespace mpitron::models

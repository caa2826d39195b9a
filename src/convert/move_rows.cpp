#include <algorithm>
#include <cstring>

#include "convert/translation.h"

// Applies a rule to numbers: rows are copied to their places, transposed where the other format
// keeps the input first, and scaled by a constant where scores are scaled elsewhere.

namespace mpitron::convert {
namespace {

/// Calls `copy(row of ours, part, row of the part, rows)` for every run of rows that is contiguous
/// on both sides.
template <class Copy>
void for_each_run(const NameRule& rule, const Copy& copy) {
  std::vector<Index> first{0};
  for (const NameRule::Part& part : rule.theirs) {
    first.push_back(first.back() + part.rows);
  }
  for (RowMove move : rule.moves) {
    // A move may reach over the end of a part into the next one: parts count as one below the
    // other.
    while (move.count > 0) {
      const auto next = std::ranges::upper_bound(first, move.theirs);
      const auto part = static_cast<std::size_t>(next - first.begin()) - 1;
      const Index rows = std::min(move.count, *next - move.theirs);
      copy(move.ours, part, move.theirs - first[part], rows);
      move = {move.ours + rows, move.theirs + rows, move.count - rows};
    }
  }
}

template <std::size_t kSize>
void transpose_elements(const std::byte* from, Index rows, Index columns, std::byte* to) {
  constexpr Index kBlock = 32;  // both sides stay in the cache
  for (Index first = 0; first < rows; first += kBlock) {
    for (Index j = 0; j < columns; ++j) {
      for (Index i = first; i < std::min(rows, first + kBlock); ++i) {
        std::memcpy(to + static_cast<std::size_t>(j * rows + i) * kSize,
                    from + static_cast<std::size_t>(i * columns + j) * kSize, kSize);
      }
    }
  }
}

void transpose(DType dtype, const std::byte* from, Index rows, Index columns, std::byte* to) {
  if (size_of(dtype) == 2) {
    transpose_elements<2>(from, rows, columns, to);
  } else {
    MPITRON_CHECK(size_of(dtype) == 4, name_of(dtype));
    transpose_elements<4>(from, rows, columns, to);
  }
}

HostTensor transposed(const HostTensor& tensor) {
  const Index rows = tensor.shape()[0], columns = tensor.shape()[1];
  HostTensor result(TensorInfo{"", {columns, rows}, tensor.dtype()});
  transpose(tensor.dtype(), tensor.bytes().data(), rows, columns, result.data());
  return result;
}

/// Transposes each row of the tensor's first dimension by itself, as a matrix of so many rows.
HostTensor with_transposed_rows(const HostTensor& tensor, Index rows) {
  HostTensor result(TensorInfo{"", tensor.shape(), tensor.dtype()});
  const Index row = tensor.shape().numel() / tensor.shape()[0];
  const std::size_t bytes = static_cast<std::size_t>(row) * size_of(tensor.dtype());
  for (std::size_t at = 0; at < result.bytes().size(); at += bytes) {
    transpose(tensor.dtype(), tensor.bytes().data() + at, rows, row / rows, result.data() + at);
  }
  return result;
}

/// Returns the tensor times a factor. Powers of two change exponents only, so that dividing gives
/// the same bits back, unless the type has no such number.
HostTensor scaled(const HostTensor& tensor, double factor) {
  HostTensor result = cast(tensor, DType::f32);
  const std::span values(reinterpret_cast<float*>(result.data()), result.bytes().size() / 4);
  for (float& value : values) {
    value *= static_cast<float>(factor);
  }
  return cast(result, tensor.dtype());
}

}  // namespace

HostTensor join(const NameRule& rule, const std::vector<HostTensor>& theirs) {
  const DType dtype = theirs.at(0).dtype();
  std::vector<HostTensor> from;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const HostTensor& tensor = theirs[i];
    MPITRON_CHECK(tensor.dtype() == dtype, rule.ours);
    if (rule.transposed) {
      from.push_back(transposed(tensor));
    } else if (rule.planes > 1) {
      from.push_back(with_transposed_rows(tensor, rule.planes));
    } else if (rule.theirs[i].factor != 1) {
      from.push_back(scaled(tensor, rule.theirs[i].factor));
    } else {
      from.emplace_back(TensorInfo{"", tensor.shape(), dtype}, tensor.bytes());
    }
  }
  const std::size_t row_bytes = static_cast<std::size_t>(rule.columns()) * size_of(dtype);
  HostTensor ours(TensorInfo{rule.ours, rule.shape, dtype});
  for_each_run(rule, [&](Index row, std::size_t part, Index from_row, Index rows) {
    std::memcpy(ours.data() + static_cast<std::size_t>(row) * row_bytes,
                from[part].bytes().data() + static_cast<std::size_t>(from_row) * row_bytes,
                static_cast<std::size_t>(rows) * row_bytes);
  });
  return ours;
}

HostTensor take_part(const NameRule& rule, const HostTensor& ours, std::size_t part) {
  const std::size_t row_bytes = static_cast<std::size_t>(rule.columns()) * size_of(ours.dtype());
  Shape shape = rule.shape;
  shape[0] = rule.theirs[part].rows;
  shape = rule.shape_of_theirs.value_or(shape);
  HostTensor result(TensorInfo{rule.theirs[part].name, shape, ours.dtype()});
  for_each_run(rule, [&](Index row, std::size_t of, Index to_row, Index rows) {
    if (of == part) {
      std::memcpy(result.data() + static_cast<std::size_t>(to_row) * row_bytes,
                  ours.bytes().data() + static_cast<std::size_t>(row) * row_bytes,
                  static_cast<std::size_t>(rows) * row_bytes);
    }
  });
  if (rule.theirs[part].factor != 1) {
    return scaled(result, 1 / rule.theirs[part].factor);
  }
  if (rule.planes > 1) {
    return with_transposed_rows(result, rule.columns() / rule.planes);
  }
  return rule.transposed ? transposed(result) : std::move(result);
}

}  // namespace mpitron::convert

#pragma once
#include <cstring>
#include <string>

#include "checkpoint/plan/holdings.h"
#include "utils/check.h"

namespace mpitron::checkpoint {

// Tensors without their values as a text of numbers, which equal ranks have alike.

/// Appends a number as its eight bytes.
inline void put_number(std::string& text, Index number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// Reads such numbers back, in order.
class DescriptionReader {
 public:
  explicit DescriptionReader(const std::string& text) : text_(text) {}
  bool done() const { return at_ == text_.size(); }
  Index next() {
    Index number = 0;
    MPITRON_CHECK(at_ + sizeof number <= text_.size(), at_, text_.size());
    std::memcpy(&number, text_.data() + at_, sizeof number);
    at_ += sizeof number;
    return number;
  }
  std::string text() {
    const auto size = static_cast<std::size_t>(next());
    std::string text = text_.substr(at_, size);
    at_ += size;
    return text;
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
};

/// A structure as it was described, before names have numbers.
struct DescribedTensor {
  DataSet data_set;
  ShardMap map;
};

inline void put_description(std::string& text, const tensor::ShardedTensor& tensor,
                            const ShardMap& map) {
  put_number(text, static_cast<Index>(tensor.name.size()));
  text += tensor.name;
  put_number(text, static_cast<Index>(tensor.value.dtype));
  put_number(text, tensor.shape.rank());
  for (int dim = 0; dim < tensor.shape.rank(); ++dim) {
    put_number(text, tensor.shape[dim]);
  }
  put_number(text, map.rows);
  put_number(text, map.row_width);
  put_number(text, static_cast<Index>(map.columns.size()));
  for (const ShardMap::Column& column : map.columns) {
    put_number(text, column.begin);
    put_number(text, column.end);
  }
}

inline DescribedTensor next_described(DescriptionReader& numbers) {
  DescribedTensor described;
  described.data_set.name = numbers.text();
  described.data_set.dtype = static_cast<DType>(numbers.next());
  for (Index dims = numbers.next(); dims > 0; --dims) {
    described.data_set.shape.push_back(numbers.next());
  }
  described.map.rows = numbers.next();
  described.map.row_width = numbers.next();
  for (Index columns = numbers.next(); columns > 0; --columns) {
    const Index begin = numbers.next();
    described.map.columns.push_back({begin, numbers.next()});
  }
  return described;
}

}  // namespace mpitron::checkpoint

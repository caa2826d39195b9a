#pragma once
#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "checkpoint/format/file.h"
#include "checkpoint/format/stored_bytes.h"

// Data sets in pieces that threads take in any order: for whoever looks at every element.

namespace mpitron::checkpoint {

/// Elements of one piece of work: large enough to read fast, small enough to share out.
constexpr Index kBlock = Index{1} << 20;

/// A part of a data set.
struct Block {
  std::size_t data_set = 0;
  Index begin = 0, end = 0;  // flat element indices
};

/// Returns the data sets cut into blocks, in their order.
inline std::vector<Block> blocks_of(const std::vector<DataSet>& data_sets) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < data_sets.size(); ++i) {
    const Index all = data_sets[i].shape.numel();
    for (Index begin = 0; begin < all; begin += kBlock) {
      blocks.push_back({.data_set = i, .begin = begin, .end = std::min(begin + kBlock, all)});
    }
  }
  return blocks;
}

/// Returns the bytes of a block as they are in the file.
inline std::string read_block(const StoredBytes& stored, const DataSet& data_set,
                              const Block& block) {
  const auto size = static_cast<Index>(size_of(data_set.dtype));
  std::string bytes(static_cast<std::size_t>((block.end - block.begin) * size), '\0');
  stored.read(data_set.offset + block.begin * size, bytes.data(), static_cast<Index>(bytes.size()));
  return bytes;
}

/// Returns element i of bytes as they are in the file; they need not be aligned.
template <class T>
T element(const std::string& bytes, Index i) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

template <class T>
double as_double(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

/// Calls f.operator()<T>() with the storage type of any dtype.
template <class F>
void visit_storage(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
    case DType::bf16:
    case DType::f16:
      return visit_dtype(dtype, f);
    case DType::f64:
      return f.template operator()<double>();
    case DType::u8:
      return f.template operator()<std::uint8_t>();
    case DType::i8:
      return f.template operator()<std::int8_t>();
    case DType::u16:
      return f.template operator()<std::uint16_t>();
    case DType::i16:
      return f.template operator()<std::int16_t>();
    case DType::i32:
      return f.template operator()<std::int32_t>();
    case DType::i64:
      return f.template operator()<std::int64_t>();
  }
}

}  // namespace mpitron::checkpoint

#include <cstring>

#include "checkpoint/read/parallel_read.h"

// Elements of one type made those of another, on the way from a file into memory.

namespace mpitron::checkpoint {
namespace {

bool trains(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16;
}

template <class From, class To>
void convert(const std::byte* from, To* to, Index count) {
  for (Index i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * static_cast<Index>(sizeof value), sizeof value);
    to[i] = static_cast<To>(static_cast<float>(value));
  }
}

}  // namespace

bool convertible(DType from, DType to) {
  return from == to || (trains(from) && trains(to));
}

void convert_elements(const void* from, DType from_type, void* to, DType to_type, Index count) {
  if (from_type == to_type) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * size_of(to_type));
    return;
  }
  visit_dtype(from_type, [&]<class From>() {
    visit_dtype(to_type, [&]<class To>() {
      convert<From>(static_cast<const std::byte*>(from), static_cast<To*>(to), count);
    });
  });
}

}  // namespace mpitron::checkpoint

#pragma once
#include <cstdint>

namespace mpitron::emulator {

/// A product of a warpgroup, as one of its threads asks for it: d (64 x n) = a b or d += a b.
struct WarpgroupProduct {
  float* d;                    // n / 2 of the thread
  const std::uint32_t* words;  // a, where it is in registers: 4 of the thread
  std::uint64_t a, b;          // descriptors; a of one in shared memory
  int n;
  bool add;
  bool rows_are_depth;             // of b; else its columns
  float (*number)(std::uint16_t);  // the value of an element

  /// Tells whether both threads ask for the same product; all 128 must.
  bool same(const WarpgroupProduct& other) const {
    return (words == nullptr) == (other.words == nullptr) && a == other.a && b == other.b &&
           n == other.n && add == other.add && rows_are_depth == other.rows_are_depth &&
           number == other.number;
  }
};

/// The asynchronous products of warpgroups (PTX ISA, wgmma). A product is executed when its
/// warpgroup waits for it: so what it reads must last until then. Until then d is NaN; `fail` where
/// d or the words of a have changed by then, where a group begins without a fence, where a
/// descriptor is none, or where a block ends with products that nobody has waited for.
void begin_product(WarpgroupProduct& mine);
void fence_products();
void commit_products();
void wait_for_products(int open);

/// Begin and end a block; an open product at its end is a fault.
void begin_block_of_products();
void end_block_of_products();

}  // namespace mpitron::emulator

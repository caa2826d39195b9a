#pragma once
#include <cstdint>
#include <span>

namespace mpitron {

/// A sum of non-negative doubles without rounding: an integer in digits of 2^32, so that the result
/// depends neither on the order nor on who adds what. Two sums are added bin by bin (one integer
/// all-reduce). Holds 2^-352 (smaller parts are cut off) to 2^288 (beyond: infinite).
namespace exact_sum {

/// 20 digits, and how many summands were not finite.
inline constexpr int kBins = 21;
using Bins = std::span<std::int64_t, kBins>;

/// At most 2^31 calls between two `carry`.
void add(Bins bins, double value);
/// Brings every digit below 2^32: before bins of several sums are added.
void carry(Bins bins);
/// The sum, rounded; infinite if a summand was not finite.
double value(Bins bins);

}  // namespace exact_sum
}  // namespace mpitron

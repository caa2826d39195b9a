#pragma once
#include <cstdint>

namespace mpitron::emulator {

/// Describes how a GPU's matrix unit adds: products are exact, but all that one instruction adds,
/// the sum so far among it, is cut off (not rounded) at so many binary places behind the leading
/// one of the largest, and so is the result. So long sums come out too small, by up to
/// 2^-result_places of themselves a step. Measured by Fasi et al. 2021
/// (doi.org/10.7717/peerj-cs.330), Khattak and Mikaitis 2025 (arXiv:2512.07004), for numbers of 8
/// bits by DeepSeek-V3 (arXiv:2412.19437).
struct MatrixUnit {
  std::int64_t depth;  // products that are added at once
  int places;          // of what is added
  int result_places;
};
/// Units of Hopper, for bf16, fp16 and tf32, and for fp8.
inline constexpr MatrixUnit kMatrixUnit = {16, 25, 23}, kFp8MatrixUnit = {32, 13, 13};

/// Adds c [rows, columns] += a [rows, depth] b [depth, columns], rows without gaps.
void add_products(const MatrixUnit& unit, float* c, const float* a, const float* b,
                  std::int64_t rows, std::int64_t columns, std::int64_t depth);

}  // namespace mpitron::emulator

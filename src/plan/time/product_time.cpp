#include "plan/time/product_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

// Seconds of a matrix product from its shape: tiles of the output in waves over the
// multiprocessors, and the bytes that it moves.

namespace mpitron::plan {
namespace {

struct Tile {
  double rows;
  double columns;
  double efficiency;
};
/// Tiles that are tried, the fastest of which counts; `efficiency` is the rate beside that of the
/// largest.
constexpr Tile kTiles[] = {{128, 256, 1.0}, {256, 128, 1.0}, {128, 128, 0.88}};
constexpr double kWholeWaves = 8;  // above as many, a last wave that is not full does not show

/// Operands are read once and results written in 16 bits.
double operand_bytes(const Product& product) {
  const double wide = product.precision == Precision::bf16 ? 2 : 1;
  return product.count * (wide * product.k * (product.m + product.n) + 2 * product.m * product.n);
}

}  // namespace

double product_time(const Machine& machine, const Product& product) {
  double best = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kTiles) {
    const double tiles = std::ceil(product.m / tile.rows) * std::ceil(product.n / tile.columns) *
                         std::ceil(product.count);
    const double waves = tiles / machine.multiprocessors;
    const double played = waves > kWholeWaves ? waves : std::ceil(waves);
    best = std::min(best,
                    played * machine.multiprocessors * tile.rows * tile.columns / tile.efficiency);
  }
  const double rate = machine.product_rate(product.precision);
  // A tile pays a fixed part, as if its depth were longer by half_depth: at k = half_depth half of
  // the rate is reached.
  const double operations = 2 * best * (product.k + machine.half_depth);
  return std::max(operations / rate,
                  operand_bytes(product) / (machine.memory_bandwidth * machine.memory_share));
}

}  // namespace mpitron::plan

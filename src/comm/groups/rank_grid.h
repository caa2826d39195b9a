#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::comm {

/// The ways in which ranks share the work.
enum class Axis : std::uint8_t { tensor, context, expert, data, pipeline };
inline constexpr std::size_t kAxes = 5;

/// Some of the axes.
class AxisSet {
 public:
  constexpr AxisSet(std::initializer_list<Axis> axes) {
    for (const Axis axis : axes) {
      bits_ |= 1u << static_cast<unsigned>(axis);
    }
  }
  /// Megatron's spelling: tp, cp, ep, dp and pp joined by dashes.
  static AxisSet parse(std::string_view names);
  constexpr bool contains(Axis axis) const {
    return (bits_ >> static_cast<unsigned>(axis) & 1u) != 0;
  }
  constexpr AxisSet operator|(AxisSet other) const {
    other.bits_ |= bits_;
    return other;
  }

 private:
  unsigned bits_ = 0;
};

/// All axes, the one whose coordinate changes fastest first.
using Order = std::array<Axis, kAxes>;
Order parse_order(std::string_view names);

/// Ranks 0 .. world-1 as points of a box: pure arithmetic, nothing is stored for each rank.
class Grid {
 public:
  using Sizes = std::array<Index, kAxes>;  // indexed by Axis

  Grid(const Sizes& sizes, const Order& order);

  Index world_size() const { return world_; }
  Index size(Axis axis) const { return sizes_[index(axis)]; }
  /// How many ranks apart neighbours along this axis are.
  Index stride(Axis axis) const { return strides_[index(axis)]; }
  Index coordinate(Index rank, Axis axis) const { return rank / stride(axis) % size(axis); }
  /// Ranks that differ from `rank` at most along `axes`, in the order of the grid.
  std::vector<Index> group_of(Index rank, AxisSet axes) const;
  /// All such groups, in the order of their first ranks' remaining coordinates.
  std::vector<std::vector<Index>> groups(AxisSet axes) const;

 private:
  static std::size_t index(Axis axis) { return static_cast<std::size_t>(axis); }
  /// Sum of coordinates times strides of the `n`-th point of the sub-box spanned by `axes`.
  Index offset(Index n, AxisSet axes) const;
  Index count(AxisSet axes) const;
  AxisSet others(AxisSet axes) const;

  Sizes sizes_;
  Order order_;
  Sizes strides_{};
  Index world_ = 1;
};

/// How a job is divided. Everything else follows from these and the number of ranks.
struct ParallelSizes {
  Index tensor = 1;
  Index context = 1;
  Index pipeline = 1;
  Index expert = 1;
  Index expert_tensor = 0;  // 0: as tensor
};

inline constexpr std::string_view kDefaultOrder = "tp-cp-ep-dp-pp";
inline constexpr std::string_view kDataLastOrder = "tp-cp-ep-pp-dp";  // --use-tp-pp-dp-mapping

/// The two views of one world: `dense` for all weights but the experts' (its expert axis is 1), and
/// `expert` (its context axis is 1, tensor is the experts' tensor parallel size, data the rest).
/// Both have the same pipeline groups. Same ranks as Megatron-Core's RankGenerator.
class RankGrid {
 public:
  /// Error(usage) where the sizes do not divide the world, or the pipelines would differ.
  RankGrid(Index world_size, const ParallelSizes& sizes, std::string_view order = kDefaultOrder);

  const Grid& dense() const { return dense_; }
  const Grid& expert() const { return expert_; }
  Index world_size() const { return dense_.world_size(); }

 private:
  Grid dense_;
  Grid expert_;
};

/// Members of a group as a box of `sizes`, fastest first; groups along its dimension `level`.
std::vector<std::vector<Index>> hierarchical_groups(const std::vector<Index>& ranks,
                                                    const std::vector<Index>& sizes,
                                                    std::size_t level);

}  // namespace mpitron::comm

#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "convert/formats/stacked_experts.h"
#include "utils/check.h"

namespace mpitron::convert {

// Experts' parts of the tensors that hold all experts of a layer.

inline constexpr std::string_view kExpertsMark = ".experts.";

/// A stored tensor, and what an expert has of it: its columns belong to the parts in turn.
struct ExpertStack {
  std::string_view stored;
  std::array<std::string_view, 2> parts;
  Index count;
  bool matrix;
};
inline constexpr ExpertStack kExpertStacks[] = {
    {"gate_up_proj", {"gate_proj.weight", "up_proj.weight"}, 2, true},
    {"gate_up_proj_bias", {"gate_proj.bias", "up_proj.bias"}, 2, false},
    {"down_proj", {"down_proj.weight"}, 1, true},
    {"down_proj_bias", {"down_proj.bias"}, 1, false}};

/// One expert's part of a stack.
struct ExpertPiece {
  std::string stored;  // name
  const ExpertStack* stack = nullptr;
  Index expert = 0, part = 0;
  bool packed = false;
  TensorInfo info;
  GateColumns order = GateColumns::in_turn;
};

/// Copies the numbers of a part, [out] or [out, in], from or to the slice of its expert, [in, out
/// of all parts]: tile by tile, since one of them is read or written across its rows.
template <std::size_t kSize, bool kIntoStack>
void copy_expert_part(const ExpertPiece& piece, std::byte* stack, std::byte* part) {
  constexpr Index kTile = 32;
  const bool matrix = piece.info.shape.rank() > 1;
  const Index out = piece.info.shape[0], in = matrix ? piece.info.shape[1] : 1;
  const Index parts = piece.stack->count;
  const bool in_turn = piece.order == GateColumns::in_turn;
  const Index first_row_of_part = in_turn ? piece.part : piece.part * out;
  const Index row_stride = in_turn ? parts : 1;
  const auto copy = [&](Index row, Index column) {
    const Index at = column * out * parts + row * row_stride + first_row_of_part;
    std::byte* const stacked = stack + static_cast<std::size_t>(at) * kSize;
    std::byte* const own = part + static_cast<std::size_t>(row * in + column) * kSize;
    std::memcpy(kIntoStack ? stacked : own, kIntoStack ? own : stacked, kSize);
  };
  for (Index first_row = 0; first_row < out; first_row += kTile) {
    for (Index first = 0; first < in; first += kTile) {
      for (Index row = first_row; row < std::min(first_row + kTile, out); ++row) {
        for (Index column = first; column < std::min(first + kTile, in); ++column) {
          copy(row, column);
        }
      }
    }
  }
}

template <bool kIntoStack>
void copy_expert_part(const ExpertPiece& piece, const std::byte* stack, const std::byte* part) {
  auto* const slice =
      const_cast<std::byte*>(stack) + piece.expert * piece.stack->count * piece.info.bytes();
  auto* const own = const_cast<std::byte*>(part);
  if (size_of(piece.info.dtype) == 2) {
    copy_expert_part<2, kIntoStack>(piece, slice, own);
  } else {
    MPITRON_CHECK(size_of(piece.info.dtype) == 4, piece.info.name);
    copy_expert_part<4, kIntoStack>(piece, slice, own);
  }
}

}  // namespace mpitron::convert

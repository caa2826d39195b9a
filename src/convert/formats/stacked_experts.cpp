#include "convert/formats/stacked_experts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

#include "utils/error.h"

// Experts in one tensor of a layer, seen as tensors of their own, and the other way around; MXFP4
// blocks are decoded on the way in (OCP Microscaling Formats 1.0).

namespace mpitron::convert {
namespace {

constexpr std::string_view kExperts = ".experts.", kBlocks = "_blocks", kScales = "_scales";
constexpr Index kBlock = 32;  // numbers that share a scale
/// The numbers of E2M1 by their four bits: a sign, two bits of exponent, one of mantissa.
constexpr std::array<float, 16> kFourBits = {0,    .5f,  1,  1.5f,  2,  3,  4,  6,
                                             -0.f, -.5f, -1, -1.5f, -2, -3, -4, -6};

/// A stored tensor, and what an expert has of it: its columns belong to the parts in turn.
struct Stack {
  std::string_view stored;
  std::array<std::string_view, 2> parts;
  Index count;
  bool matrix;
};
constexpr Stack kStacks[] = {{"gate_up_proj", {"gate_proj.weight", "up_proj.weight"}, 2, true},
                             {"gate_up_proj_bias", {"gate_proj.bias", "up_proj.bias"}, 2, false},
                             {"down_proj", {"down_proj.weight"}, 1, true},
                             {"down_proj_bias", {"down_proj.bias"}, 1, false}};

/// One expert's part of a stack.
struct Piece {
  std::string stored;  // name
  const Stack* stack = nullptr;
  Index expert = 0, part = 0;
  bool packed = false;
  TensorInfo info;
  GateColumns order = GateColumns::in_turn;
};

/// Copies the numbers of a part, [out] or [out, in], from or to the slice of its expert, [in, out
/// of all parts]: tile by tile, since one of them is read or written across its rows.
template <std::size_t kSize, bool kIntoStack>
void copy_part(const Piece& piece, std::byte* stack, std::byte* part) {
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
void copy_part(const Piece& piece, const std::byte* stack, const std::byte* part) {
  auto* const slice =
      const_cast<std::byte*>(stack) + piece.expert * piece.stack->count * piece.info.bytes();
  auto* const own = const_cast<std::byte*>(part);
  if (size_of(piece.info.dtype) == 2) {
    copy_part<2, kIntoStack>(piece, slice, own);
  } else {
    MPITRON_CHECK(size_of(piece.info.dtype) == 4, piece.info.name);
    copy_part<4, kIntoStack>(piece, slice, own);
  }
}

/// Decodes an expert's part; rows of the packed matrix belong to the parts in turn.
HostTensor unpacked(const Piece& piece, const HostTensor& blocks, const HostTensor& scales) {
  HostTensor result(piece.info);
  auto* values = reinterpret_cast<BFloat16*>(result.data());
  const Index rows = piece.info.shape[0], groups = piece.info.shape[1] / kBlock;
  for (Index row = 0; row < rows; ++row) {
    const Index stored = (piece.expert * rows + row) * piece.stack->count + piece.part;
    for (Index group = 0; group < groups; ++group) {
      const auto at = static_cast<std::size_t>(stored * groups + group);
      // Each number times a power of two fits into bf16 exactly: two bits of mantissa at most.
      const int exponent = std::to_integer<int>(scales.bytes()[at]) - 127;
      for (std::size_t byte = 0; byte < kBlock / 2; ++byte) {
        const auto two = std::to_integer<std::size_t>(blocks.bytes()[at * kBlock / 2 + byte]);
        *values++ = BFloat16(std::ldexp(kFourBits[two % 16], exponent));
        *values++ = BFloat16(std::ldexp(kFourBits[two / 16], exponent));
      }
    }
  }
  return result;
}

/// Lists a piece for every expert and part of a stack, and cuts it out when it is read.
class UnstackedExperts : public TensorSource {
 public:
  UnstackedExperts(std::unique_ptr<TensorSource> files, GateColumns order)
      : files_(std::move(files)), order_(order) {
    for (const TensorInfo& info : files_->tensors()) {
      add(info);
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  HostTensor read(const std::string& name) override {
    const auto found = pieces_.find(name);
    if (found == pieces_.end()) {
      return files_->read(name);
    }
    const Piece& piece = found->second;
    if (piece.packed) {
      const std::string base = piece.stored.substr(0, piece.stored.size() - kBlocks.size());
      return unpacked(piece, files_->read(piece.stored), files_->read(base + std::string(kScales)));
    }
    HostTensor result(piece.info);
    copy_part<false>(piece, files_->read(piece.stored).bytes().data(), result.data());
    return result;
  }

 private:
  void add(const TensorInfo& info) {
    const std::size_t at = info.name.find(kExperts);
    std::string_view rest = std::string_view(info.name).substr(
        at == std::string::npos ? info.name.size() : at + kExperts.size());
    const bool packed = rest.ends_with(kBlocks);
    rest.remove_suffix(packed || rest.ends_with(kScales) ? kBlocks.size() : 0);
    const Stack* const stack = std::ranges::find(kStacks, rest, &Stack::stored);
    if (stack == std::end(kStacks)) {
      tensors_.push_back(info);
    } else if (packed || !info.name.ends_with(kScales)) {
      add_pieces(info, *stack, packed, info.name.substr(0, at + kExperts.size()));
    }
  }

  void add_pieces(const TensorInfo& info, const Stack& stack, bool packed,
                  const std::string& prefix) {
    const Shape shape = shape_of_part(info, stack, packed);
    for (Index expert = 0; expert < info.shape[0]; ++expert) {
      for (Index part = 0; part < stack.count; ++part) {
        const std::string name =
            fmt::format("{}{}.{}", prefix, expert, stack.parts[static_cast<std::size_t>(part)]);
        tensors_.push_back({name, shape, packed ? DType::bf16 : info.dtype});
        pieces_[name] = {info.name, &stack, expert, part, packed, tensors_.back(), order_};
      }
    }
  }

  /// Returns [out, in] or [out] of each part. Error(data) for a stack of another shape.
  Shape shape_of_part(const TensorInfo& info, const Stack& stack, bool packed) const {
    const Shape& s = info.shape;
    if (packed && stack.matrix && s.rank() == 4 && s.numel() > 0 && s[1] % stack.count == 0 &&
        s[3] == kBlock / 2) {
      const std::string base = info.name.substr(0, info.name.size() - kBlocks.size());
      const TensorInfo* const scales = files_->find(base + std::string(kScales));
      if (scales != nullptr && scales->shape == Shape{s[0], s[1], s[2]}) {
        return {s[1] / stack.count, s[2] * kBlock};
      }
    }
    const int columns = s.rank() - 1;
    if (!packed && s.rank() == (stack.matrix ? 3 : 2) && s.numel() > 0 &&
        s[columns] % stack.count == 0 && info.dtype != DType::u8) {
      const Index out = s[columns] / stack.count;
      return stack.matrix ? Shape{out, s[1]} : Shape{out};
    }
    throw_data("{}: expected the experts of a layer, found {} of {}", info.name,
               mpitron::name_of(info.dtype), to_string(s));
  }

  std::unique_ptr<TensorSource> files_;
  GateColumns order_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, Piece> pieces_;
};

/// Collects the pieces of each stack, and fills the stack when it is read.
class StackedExperts : public TensorSource {
 public:
  StackedExperts(TensorSource& theirs, GateColumns order) : theirs_(theirs), order_(order) {
    for (const TensorInfo& info : theirs.tensors()) {
      if (!add(info)) {
        tensors_.push_back(info);
      }
    }
    for (TensorInfo& info : tensors_) {
      if (const auto found = pieces_.find(info.name); found != pieces_.end()) {
        info.shape = shape_of(found->second);
      }
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  HostTensor read(const std::string& name) override {
    const auto found = pieces_.find(name);
    if (found == pieces_.end()) {
      return theirs_.read(name);
    }
    HostTensor result(*find(name));
    for (const Piece& piece : found->second) {
      copy_part<true>(piece, result.data(), theirs_.read(piece.info.name).bytes().data());
    }
    return result;
  }

 private:
  /// Notes a tensor as a piece of a stack; false where it is no tensor of an expert.
  bool add(const TensorInfo& info) {
    const std::size_t at = info.name.find(kExperts);
    if (at == std::string::npos) {
      return false;
    }
    const char* const begin = info.name.data() + at + kExperts.size();
    const char* const end = info.name.data() + info.name.size();
    Piece piece{.info = info, .order = order_};
    const auto [dot, error] = std::from_chars(begin, end, piece.expert);
    for (const Stack& stack : kStacks) {
      for (; error == std::errc() && dot != end && piece.part < stack.count; ++piece.part) {
        if (std::string_view(dot + 1, end) == stack.parts[static_cast<std::size_t>(piece.part)]) {
          piece.stack = &stack;
          piece.stored = info.name.substr(0, at + kExperts.size()) + std::string(stack.stored);
          add(std::move(piece));
          return true;
        }
      }
      piece.part = 0;
    }
    return false;
  }

  void add(Piece piece) {
    std::vector<Piece>& pieces = pieces_[piece.stored];
    if (pieces.empty()) {
      tensors_.push_back({piece.stored, {}, piece.info.dtype});
    } else if (const TensorInfo& first = pieces.front().info;
               first.dtype != piece.info.dtype || first.shape != piece.info.shape) {
      throw_data("{} and {} differ in type or shape, and are one tensor there", first.name,
                 piece.info.name);
    }
    pieces.push_back(std::move(piece));
  }

  static Shape shape_of(const std::vector<Piece>& pieces) {
    const Stack& stack = *pieces.front().stack;
    const Shape& part = pieces.front().info.shape;
    const Index experts = static_cast<Index>(pieces.size()) / stack.count;
    return stack.matrix ? Shape{experts, part[1], part[0] * stack.count}
                        : Shape{experts, part[0] * stack.count};
  }

  TensorSource& theirs_;
  GateColumns order_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, std::vector<Piece>> pieces_;  // by the stored name
};

}  // namespace

std::unique_ptr<TensorSource> unstack_experts(std::unique_ptr<TensorSource> files,
                                              GateColumns order) {
  return std::make_unique<UnstackedExperts>(std::move(files), order);
}

std::unique_ptr<TensorSource> stack_experts(TensorSource& theirs, GateColumns order) {
  return std::make_unique<StackedExperts>(theirs, order);
}

}  // namespace mpitron::convert

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include "convert/formats/expert_pieces.h"
#include "convert/formats/stacked_experts.h"
#include "utils/error.h"

// Each expert's tensors out of those that hold all of a layer; MXFP4 blocks are decoded (OCP
// Microscaling Formats 1.0).

namespace mpitron::convert {
namespace {

constexpr std::string_view kBlocks = "_blocks", kScales = "_scales";
constexpr Index kBlock = 32;  // numbers that share a scale
/// The numbers of E2M1 by their four bits: a sign, two bits of exponent, one of mantissa.
constexpr std::array<float, 16> kFourBits = {0,    .5f,  1,  1.5f,  2,  3,  4,  6,
                                             -0.f, -.5f, -1, -1.5f, -2, -3, -4, -6};

/// Decodes an expert's part; rows of the packed matrix belong to the parts in turn.
HostTensor unpacked(const ExpertPiece& piece, const HostTensor& blocks, const HostTensor& scales) {
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
    const ExpertPiece& piece = found->second;
    if (piece.packed) {
      const std::string base = piece.stored.substr(0, piece.stored.size() - kBlocks.size());
      return unpacked(piece, files_->read(piece.stored), files_->read(base + std::string(kScales)));
    }
    HostTensor result(piece.info);
    copy_expert_part<false>(piece, files_->read(piece.stored).bytes().data(), result.data());
    return result;
  }

 private:
  void add(const TensorInfo& info) {
    const std::size_t at = info.name.find(kExpertsMark);
    std::string_view rest = std::string_view(info.name).substr(
        at == std::string::npos ? info.name.size() : at + kExpertsMark.size());
    const bool packed = rest.ends_with(kBlocks);
    rest.remove_suffix(packed || rest.ends_with(kScales) ? kBlocks.size() : 0);
    const ExpertStack* const stack = std::ranges::find(kExpertStacks, rest, &ExpertStack::stored);
    if (stack == std::end(kExpertStacks)) {
      tensors_.push_back(info);
    } else if (packed || !info.name.ends_with(kScales)) {
      add_pieces(info, *stack, packed, info.name.substr(0, at + kExpertsMark.size()));
    }
  }

  void add_pieces(const TensorInfo& info, const ExpertStack& stack, bool packed,
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
  Shape shape_of_part(const TensorInfo& info, const ExpertStack& stack, bool packed) const {
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
  std::map<std::string, ExpertPiece> pieces_;
};

}  // namespace

std::unique_ptr<TensorSource> unstack_experts(std::unique_ptr<TensorSource> files,
                                              GateColumns order) {
  return std::make_unique<UnstackedExperts>(std::move(files), order);
}

}  // namespace mpitron::convert

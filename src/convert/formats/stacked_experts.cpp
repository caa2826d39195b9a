#include "convert/formats/stacked_experts.h"

#include <charconv>
#include <cstring>
#include <map>

#include "convert/formats/expert_pieces.h"
#include "utils/error.h"

// Tensors of experts, seen as one tensor of a layer.

namespace mpitron::convert {
namespace {

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
    for (const ExpertPiece& piece : found->second) {
      copy_expert_part<true>(piece, result.data(), theirs_.read(piece.info.name).bytes().data());
    }
    return result;
  }

 private:
  /// Notes a tensor as a piece of a stack; false where it is no tensor of an expert.
  bool add(const TensorInfo& info) {
    const std::size_t at = info.name.find(kExpertsMark);
    if (at == std::string::npos) {
      return false;
    }
    const char* const begin = info.name.data() + at + kExpertsMark.size();
    const char* const end = info.name.data() + info.name.size();
    ExpertPiece piece{.info = info, .order = order_};
    const auto [dot, error] = std::from_chars(begin, end, piece.expert);
    for (const ExpertStack& stack : kExpertStacks) {
      for (; error == std::errc() && dot != end && piece.part < stack.count; ++piece.part) {
        if (std::string_view(dot + 1, end) == stack.parts[static_cast<std::size_t>(piece.part)]) {
          piece.stack = &stack;
          piece.stored = info.name.substr(0, at + kExpertsMark.size()) + std::string(stack.stored);
          add(std::move(piece));
          return true;
        }
      }
      piece.part = 0;
    }
    return false;
  }

  void add(ExpertPiece piece) {
    std::vector<ExpertPiece>& pieces = pieces_[piece.stored];
    if (pieces.empty()) {
      tensors_.push_back({piece.stored, {}, piece.info.dtype});
    } else if (const TensorInfo& first = pieces.front().info;
               first.dtype != piece.info.dtype || first.shape != piece.info.shape) {
      throw_data("{} and {} differ in type or shape, and are one tensor there", first.name,
                 piece.info.name);
    }
    pieces.push_back(std::move(piece));
  }

  static Shape shape_of(const std::vector<ExpertPiece>& pieces) {
    const ExpertStack& stack = *pieces.front().stack;
    const Shape& part = pieces.front().info.shape;
    const Index experts = static_cast<Index>(pieces.size()) / stack.count;
    return stack.matrix ? Shape{experts, part[1], part[0] * stack.count}
                        : Shape{experts, part[0] * stack.count};
  }

  TensorSource& theirs_;
  GateColumns order_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, std::vector<ExpertPiece>> pieces_;  // by the stored name
};

}  // namespace

std::unique_ptr<TensorSource> stack_experts(TensorSource& theirs, GateColumns order) {
  return std::make_unique<StackedExperts>(theirs, order);
}

}  // namespace mpitron::convert

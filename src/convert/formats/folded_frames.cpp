#include "convert/formats/folded_frames.h"

#include <algorithm>
#include <cstring>

#include "utils/error.h"

// Adds and parts the two frames of a patch matrix while it is read.

namespace mpitron::convert {
namespace {

constexpr std::string_view kPatches = "patch_embed.proj.weight";

bool of_patches(const TensorInfo& info) {
  return info.name.ends_with(kPatches);
}

Shape folded(const Shape& shape) {
  return {shape[0], shape[1], shape[3], shape[4]};
}

Shape unfolded(const Shape& shape) {
  return {shape[0], shape[1], 2, shape[2], shape[3]};
}

/// Shows a source with the matrix of patches in another shape.
class FrameView : public TensorSource {
 public:
  const std::vector<TensorInfo>& tensors() const override { return tensors_; }

 protected:
  std::vector<TensorInfo> tensors_;
};

class FoldedFrames final : public FrameView {
 public:
  explicit FoldedFrames(std::unique_ptr<TensorSource> files) : files_(std::move(files)) {
    tensors_ = files_->tensors();
    for (TensorInfo& info : tensors_) {
      if (of_patches(info) && (info.shape.rank() != 5 || info.shape[2] != 2)) {
        throw_data("{}: expected [rows, channels, 2, edge, edge], found {}", info.name,
                   to_string(info.shape));
      }
      info.shape = of_patches(info) ? folded(info.shape) : info.shape;
    }
  }

  HostTensor read(const std::string& name) override {
    const TensorInfo& info = *find(name);
    return of_patches(info) ? sum(info, files_->read(name)) : files_->read(name);
  }

 private:
  static HostTensor sum(const TensorInfo& info, const HostTensor& frames) {
    HostTensor result(info);
    const Index plane = info.shape[2] * info.shape[3];
    visit_dtype(info.dtype, [&]<class T>() {
      const auto* from = reinterpret_cast<const T*>(frames.bytes().data());
      auto* to = reinterpret_cast<T*>(result.data());
      for (Index i = 0; i < info.shape.numel(); ++i) {
        const Index first = i / plane * 2 * plane + i % plane;
        to[i] = T(static_cast<float>(from[first]) + static_cast<float>(from[first + plane]));
      }
    });
    return result;
  }

  std::unique_ptr<TensorSource> files_;
};

class UnfoldedFrames final : public FrameView {
 public:
  explicit UnfoldedFrames(TensorSource& theirs) : theirs_(theirs) {
    tensors_ = theirs.tensors();
    for (TensorInfo& info : tensors_) {
      info.shape = of_patches(info) ? unfolded(info.shape) : info.shape;
    }
  }

  HostTensor read(const std::string& name) override {
    const TensorInfo& info = *find(name);
    if (!of_patches(info)) {
      return theirs_.read(name);
    }
    const HostTensor whole = theirs_.read(name);
    HostTensor result(info);
    const auto plane =
        static_cast<std::size_t>(info.shape[3] * info.shape[4]) * size_of(info.dtype);
    for (std::size_t at = 0; at < whole.bytes().size(); at += plane) {
      std::memcpy(result.data() + 2 * at, whole.bytes().data() + at, plane);
    }
    return result;
  }

 private:
  TensorSource& theirs_;
};

}  // namespace

bool has_two_frames(std::string_view model_type) {
  return model_type == "qwen2_vl";
}

std::unique_ptr<TensorSource> fold_frames(std::unique_ptr<TensorSource> files) {
  return std::make_unique<FoldedFrames>(std::move(files));
}

std::unique_ptr<TensorSource> unfold_frames(TensorSource& theirs) {
  return std::make_unique<UnfoldedFrames>(theirs);
}

}  // namespace mpitron::convert

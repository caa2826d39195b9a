#pragma once
#include <optional>

#include "config/vision_config.h"
#include "tensor/tensor.h"

namespace mpitron::models {

/// Edge of the window that ssim slides over an image.
inline constexpr Index kSsimWindow = 11;

/// How like the target what was painted is, over the pixels behind the mask; all others count as 0
/// on both sides.
struct ImageQuality {
  double psnr = 0;             // 10 log10(1 / mean squared difference)
  std::optional<double> ssim;  // Wang et al. 2004; absent where images are smaller than the window
};

/// Patches that were painted and their originals; on the host, fp32.
struct PaintedPatches {
  tensor::Tensor painted, target;  // [n, b, P P 3]
  tensor::Tensor mask;             // [n, b], 1 = behind the mask
};

/// Numerical contract: double; sums in the order of the pixels.
ImageQuality image_quality(const PaintedPatches& patches, const config::VisionConfig& vision);

}  // namespace mpitron::models

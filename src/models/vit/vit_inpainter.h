#pragma once
#include "models/vit/vit_backbone.h"

namespace mpitron::models {

/// Paints what is behind a mask of patches. Objective "loss": the squared error over masked
/// pixels, all channels added, a mean over microbatches; "psnr" and, from 11 pixels on, "ssim" are
/// told only.
class VitInpainter final : public Model {
 public:
  /// Creates the parameters without values; see `initialize`.
  VitInpainter(const config::ModelConfig& config, device::Device& device, Share share);

  Batch batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const override;
  std::span<const std::string_view> batch_fields() const override;
  autograd::Var hidden(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  /// The painted patches, [n, b, P P 3].
  autograd::Var logits(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  std::vector<Objective> objectives(autograd::Context& context, const Batch& batch,
                                    const autograd::Var& input = {}) const override;
  std::vector<ObjectiveTraits> objective_traits() const override;

 private:
  VitBackbone backbone_;
  // Where the part has the output:
  autograd::Parameter* weight_ = nullptr;  // [P P 3, h]
  autograd::Parameter* bias_ = nullptr;
};

}  // namespace mpitron::models

#pragma once
#include "models/vit/vit_backbone.h"
#include "nn/layers/distillation_head.h"

namespace mpitron::models {

/// Self-distillation without labels (Caron et al. 2021): a student learns to say of all crops of an
/// image what its teacher, a moving average of it, says of the two large ones. Objective "loss", a
/// mean over pairs of crops of one image.
class DinoModel final : public Model {
 public:
  /// Creates the parameters without values; see `initialize`. The teacher's are marked as averages.
  DinoModel(const config::ModelConfig& config, device::Device& device, Share share);

  Batch batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const override;
  std::span<const std::string_view> batch_fields() const override;
  /// [rows, outputs]: what the student says of the batch's crops, large ones first.
  autograd::Var hidden(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  /// Returns the head's outputs, [1, rows, outputs]; of whole images, [1, b, h], the teacher's
  /// features.
  autograd::Var logits(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  std::vector<Objective> objectives(autograd::Context& context, const Batch& batch,
                                    const autograd::Var& input = {}) const override;
  std::vector<ObjectiveTraits> objective_traits() const override { return {{.name = "loss"}}; }

  /// The last layer is held in the first epochs; the centre moves with every microbatch.
  void begin_step(Index iteration) override;
  void end_step() override;
  double average_momentum(Index iteration) const override;

 private:
  /// Features of images: the first position of what the backbone makes of them, [rows, h].
  autograd::Var features(autograd::Context& context, const VitBackbone& backbone,
                         const Batch& images) const;
  /// Returns the teacher's outputs for the large crops, [2 b, outputs].
  tensor::Tensor taught(autograd::Context& context, const Batch& batch) const;

  VitBackbone student_, teacher_;
  nn::DistillationHead student_head_, teacher_head_;
  autograd::Buffer& centre_;               // [outputs]
  mutable tensor::Tensor running_centre_;  // of the step's next microbatch
};

}  // namespace mpitron::models

// Lists the families of models and how each is made. A new family needs its row here and in
// config/model_family.cpp.
#include "models/make_model.h"

#include <algorithm>
#include <array>

#include "models/bert/bert_model.h"
#include "models/gpt/gpt_model.h"
#include "models/llava/llava_model.h"
#include "models/t5/t5_model.h"
#include "models/text_head/text_classifier.h"
#include "models/vit/dino_model.h"
#include "models/vit/vit_classifier.h"
#include "models/vit/vit_inpainter.h"

namespace mpitron::models {
namespace {

using MakeModel = std::unique_ptr<Model> (*)(const config::ModelConfig& config,
                                             device::Device& device, Model::Share share);

template <class M>
std::unique_ptr<Model> make(const config::ModelConfig& config, device::Device& device,
                            Model::Share share) {
  return std::make_unique<M>(config, device, std::move(share));
}

/// Chooses a vision transformer by what is learned of images.
std::unique_ptr<Model> make_vit(const config::ModelConfig& config, device::Device& device,
                                Model::Share share) {
  switch (config.vision.task) {
    case config::VisionTask::inpaint:
      return make<VitInpainter>(config, device, std::move(share));
    case config::VisionTask::dino:
      return make<DinoModel>(config, device, std::move(share));
    default:
      return make<VitClassifier>(config, device, std::move(share));
  }
}

struct FamilyRow {
  config::ModelKind kind;
  MakeModel make;
};

constexpr auto kFamilies = std::to_array<FamilyRow>({
    {config::ModelKind::gpt, make<GptModel>},
    {config::ModelKind::mamba, make<GptModel>},
    {config::ModelKind::bert, make<BertModel>},
    {config::ModelKind::t5, make<T5Model>},
    {config::ModelKind::vit, make_vit},
    {config::ModelKind::vlm, make<LlavaModel>},
});

}  // namespace

std::unique_ptr<Model> make_model(const config::ModelConfig& config, device::Device& device,
                                  Model::Share share) {
  if (config.text_head) {
    return make<TextClassifier>(config, device, std::move(share));
  }
  const auto family = std::ranges::find(kFamilies, config.kind, &FamilyRow::kind);
  MPITRON_CHECK(family != kFamilies.end(), config.family().name);
  return family->make(config, device, std::move(share));
}

}  // namespace mpitron::models

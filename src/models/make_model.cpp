#include "models/make_model.h"

#include "models/bert_model.h"
#include "models/gpt_model.h"
#include "models/llava_model.h"
#include "models/t5_model.h"
#include "models/text_classifier.h"
#include "models/vit_classifier.h"
#include "models/vit_inpainter.h"

namespace mpitron::models {

std::unique_ptr<Model> make_model(const config::ModelConfig& config, device::Device& device,
                                  Model::Share share) {
  if (config.text_head) {
    return std::make_unique<TextClassifier>(config, device, std::move(share));
  }
  switch (config.kind) {
    case config::ModelKind::bert:
      return std::make_unique<BertModel>(config, device, std::move(share));
    case config::ModelKind::t5:
      return std::make_unique<T5Model>(config, device, std::move(share));
    case config::ModelKind::vit:
      if (config.vision.task == config::VisionTask::inpaint) {
        return std::make_unique<VitInpainter>(config, device, std::move(share));
      }
      return std::make_unique<VitClassifier>(config, device, std::move(share));
    case config::ModelKind::gpt:
      break;
  }
  if (config.vlm) {
    return std::make_unique<LlavaModel>(config, device, std::move(share));
  }
  return std::make_unique<GptModel>(config, device, std::move(share));
}

}  // namespace mpitron::models

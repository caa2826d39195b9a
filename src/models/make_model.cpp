#include "models/make_model.h"

#include "models/bert_model.h"
#include "models/gpt_model.h"
#include "models/t5_model.h"

namespace mpitron::models {

std::unique_ptr<Model> make_model(const config::ModelConfig& config, device::Device& device,
                                  Model::Share share) {
  switch (config.kind) {
    case config::ModelKind::bert:
      return std::make_unique<BertModel>(config, device, std::move(share));
    case config::ModelKind::t5:
      return std::make_unique<T5Model>(config, device, std::move(share));
    case config::ModelKind::gpt:
      break;
  }
  return std::make_unique<GptModel>(config, device, std::move(share));
}

}  // namespace mpitron::models

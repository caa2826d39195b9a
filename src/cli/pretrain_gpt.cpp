#include <algorithm>

#include "cli/commands.h"
#include "config/parse.h"
#include "train/pretrain.h"
#include "utils/log.h"

namespace mpitron::cli {
namespace {

void print_data(const train::TrainingData& data, const config::RunConfig& config) {
  const auto size = [](const std::shared_ptr<const data::Dataset>& set) {
    return set ? set->size() : 0;
  };
  log::print(fmt::format(" > padded vocab (size: {}) with {} dummy tokens (new size: {})",
                         data.tokenizer->vocab_size(),
                         config.model.padded_vocab_size - data.tokenizer->vocab_size(),
                         config.model.padded_vocab_size));
  log::print(fmt::format(" > samples: train {}, validation {}, test {}", size(data.sets.train),
                         data.sets.valid.empty() ? 0 : size(data.sets.valid[0]),
                         size(data.sets.test)));
}

}  // namespace

int pretrain_gpt(const Arguments& arguments) {
  config::RunConfig config = config::parse_run_config(arguments);
  const device::HostRuntime runtime;
  const auto device = device::make_device("host");
  const train::TrainingData data = train::make_training_data(config);
  config.model.padded_vocab_size = train::padded_vocab_size(config, data.tokenizer->vocab_size());
  print_data(data, config);
  models::GptModel model(config.model, *device);
  model.initialize();
  log::print(train::parameter_count_line(0, 0, model.parameters().numel()));
  train::Pretraining pretraining(*device, model, data, config);
  return static_cast<int>(pretraining.run().code);
}

}  // namespace mpitron::cli

#pragma once
#include <memory>
#include <string>
#include <vector>

#include "config/parse/parse.h"
#include "support/host_runtime.h"
#include "train/batches/training_data.h"
#include "train/model/trained_model.h"

namespace mpitron::train {

/// Model and mock data of a run of some milliseconds, from flags.
struct MockTraining {
  explicit MockTraining(const std::vector<std::string>& more = {}) : config(parse(more)) {
    config.model.padded_vocab_size = padded_vocab_size(config, data.tokenizer->vocab_size());
    model = std::make_unique<TrainedModel>(*device, config, *world);
  }

  static config::RunConfig parse(const std::vector<std::string>& more) {
    std::vector<std::string> flags = {"--num-layers",
                                      "1",
                                      "--hidden-size",
                                      "16",
                                      "--num-attention-heads",
                                      "2",
                                      "--seq-length",
                                      "8",
                                      "--max-position-embeddings",
                                      "8",
                                      "--micro-batch-size",
                                      "2",
                                      "--global-batch-size",
                                      "4",
                                      "--lr",
                                      "1e-2",
                                      "--log-interval",
                                      "1",
                                      "--eval-iters",
                                      "1",
                                      "--tokenizer-type",
                                      "NullTokenizer",
                                      "--vocab-size",
                                      "31",
                                      "--mock-data",
                                      "--train-iters",
                                      "4",
                                      "--make-vocab-size-divisible-by",
                                      "32"};
    flags.insert(flags.end(), more.begin(), more.end());
    return config::parse_run_config(flags);
  }

  config::RunConfig config;
  std::unique_ptr<device::Device> device = device::make_device("host");
  TrainingData data = make_training_data(config);
  std::unique_ptr<comm::World> world = comm::make_single_world();
  std::unique_ptr<TrainedModel> model;
};

}  // namespace mpitron::train

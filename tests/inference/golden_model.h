#pragma once
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "io/arrays/safetensors.h"
#include "models/gpt/gpt_model.h"
#include "support/golden_json.h"
#include "tokenizers/make_tokenizer.h"

namespace mpitron::test {

inline bool has_generation_models() {
  return std::filesystem::exists(golden_folder() + "/generation/models");
}

/// A recorded model of generation/models and its tokenizer, with another sequence length.
struct GoldenModel {
  GoldenModel(const std::string& name, Index length)
      : tokenizer(tokenizers::make_tokenizer(
            {.vocab_file = golden_folder() + "/generation/tokenizer/vocab.json",
             .merge_file = golden_folder() + "/generation/tokenizer/merges.txt"})),
        model(config(name, length), *device) {
    model.initialize();
    const io::SafetensorsFile file(golden_folder() + "/generation/models/" + name +
                                   "/weights.safetensors");
    for (autograd::Parameter& parameter : model.parameters()) {
      const auto& stored = file.at(parameter.name);
      EXPECT_EQ(io::checked_numel(stored), parameter.shape.numel()) << parameter.name;
      std::memcpy(parameter.value.view().data, stored.data.data(), stored.data.size());
    }
  }
  static config::ModelConfig config(const std::string& name, Index length) {
    const nlohmann::json recorded = golden_json("generation/models/" + name + "/config.json");
    auto flags = recorded.at("flags").get<std::vector<std::string>>();
    for (const char* more : {"--micro-batch-size", "1", "--train-iters", "1", "--lr", "1e-3",
                             "--mock-data", "--seq-length"}) {
      flags.emplace_back(more);
    }
    flags.push_back(std::to_string(length));
    config::ModelConfig result = config::parse_run_config(flags).model;
    result.padded_vocab_size = recorded.at("dims").at("padded_vocab").get<Index>();
    return result;
  }
  std::unique_ptr<device::Device> device = device::make_device("host");
  std::unique_ptr<tokenizers::Tokenizer> tokenizer;
  models::GptModel model;
};

}  // namespace mpitron::test

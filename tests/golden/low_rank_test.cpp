#include <cmath>
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "convert/adapters.h"
#include "convert/model_logits.h"
#include "convert/model_reader.h"
#include "io/arrays/peft_folder.h"
#include "support/golden_json.h"
#include "support/tensors.h"
#include "tensor/shard.h"
#include "train/step/train_step.h"
#include "train/timing/timers.h"

// Six steps of Hugging Face's PEFT on a small Llama, from its base and the same first factors.

namespace mpitron::train {
namespace low_rank_test {

constexpr Index kRows = 4, kLength = 16, kSteps = 6;

std::string folder() {
  return test::golden_folder() + "/generation/lora/";
}

std::string peft_name(const autograd::Parameter& parameter) {
  const std::size_t factor = parameter.name.find("lora_");
  return io::kPeftPrefix + config::module_name(parameter.name.substr(0, factor)) + "." +
         parameter.name.substr(factor);
}

std::vector<double> values(const io::SafetensorsFile::Tensor& stored) {
  std::vector<double> result(stored.data.size() / sizeof(float));
  for (std::size_t i = 0; i < result.size(); ++i) {
    float value = 0;
    std::memcpy(&value, stored.data.data() + i * sizeof(float), sizeof(float));
    result[i] = static_cast<double>(value);
  }
  return result;
}

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) {
    sum += value * value;
  }
  return std::sqrt(sum);
}

void expect_close(const std::vector<double>& x, const std::vector<double>& expected,
                  double tolerance, const std::string& name) {
  ASSERT_EQ(x.size(), expected.size()) << name;
  std::vector<double> difference;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference.push_back(x[i] - expected[i]);
  }
  EXPECT_LE(norm(difference), tolerance * norm(expected)) << name;
}

config::LoraConfig lora_of(const io::PeftFolder& adapter) {
  const io::PeftConfig& stored = adapter.config();
  config::LoraConfig config{.rank = stored.rank,
                            .alpha = stored.alpha,
                            .rank_stabilised = stored.rank_stabilised,
                            .target_modules = adapter.modules(),
                            .alpha_pattern = stored.alpha_pattern};
  for (const auto& [module, rank] : stored.rank_pattern) {
    config.rank_pattern[module] = static_cast<Index>(rank);
  }
  return config;
}

config::RunConfig run_of(const convert::ModelDescription& base, const io::PeftFolder& adapter) {
  config::RunConfig run = config::parse_run_config({"--num-layers",
                                                    "2",
                                                    "--hidden-size",
                                                    "32",
                                                    "--num-attention-heads",
                                                    "4",
                                                    "--seq-length",
                                                    "16",
                                                    "--max-position-embeddings",
                                                    "64",
                                                    "--transformer-impl",
                                                    "local",
                                                    "--tokenizer-type",
                                                    "NullTokenizer",
                                                    "--vocab-size",
                                                    "63",
                                                    "--mock-data",
                                                    "--micro-batch-size",
                                                    "4",
                                                    "--global-batch-size",
                                                    "4",
                                                    "--train-iters",
                                                    "6",
                                                    "--lr",
                                                    "0.01",
                                                    "--lr-decay-style",
                                                    "constant",
                                                    "--weight-decay",
                                                    "0",
                                                    "--adam-beta2",
                                                    "0.999",
                                                    "--clip-grad",
                                                    "0"});
  run.model = base.model;
  run.model.seq_length = kLength;
  run.model.attention_dropout = run.model.hidden_dropout = 0;
  run.model.lora = lora_of(adapter);
  return run;
}

class Recorded : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder() + "results.json")) {
      GTEST_SKIP() << folder() << ": not in this set of reference data";
    }
    adapter_.emplace(folder() + GetParam());
    expected_.emplace(folder() + GetParam() + "/expected.safetensors");
    tokens_.emplace(folder() + "tokens.safetensors");
    base_.emplace(folder() + "base",
                  convert::ModelReader::Settings{.format = convert::Format::hugging_face,
                                                 .make_vocab_size_divisible_by = 1});
    run_ = run_of(base_->description(), *adapter_);
    const nlohmann::json results = test::golden_json("generation/lora/results.json");
    for (const auto& entry : results.at("llama")) {
      if (entry.at("adapter").get<std::string>() == GetParam()) {
        result_ = entry;
      }
    }
  }

  /// The base's weights, and the factors as PEFT started them.
  void fill(TrainedModel& model) {
    for (autograd::Parameter& parameter : model.parameters()) {
      if (parameter.role.low_rank) {
        const auto& stored = expected_->at("initial/" + peft_name(parameter));
        test::set_values(parameter.value, values(stored));
      } else {
        const convert::HostTensor stored = base_->ours().read(parameter.name);
        std::memcpy(parameter.value.data<float>(), stored.bytes().data(), stored.bytes().size());
      }
    }
  }
  HostMicrobatch rows(Index step, Index count) {
    const auto& stored = tokens_->at("tokens");
    const auto token = [&](Index row, Index i) -> std::int64_t {
      const Index at = (step * kRows + row) * (kLength + 1) + i;
      return stored.type == io::ElementType::i64 ? stored.as<std::int64_t>()[at]
                                                 : stored.as<std::int32_t>()[at];
    };
    inputs_.clear(), labels_.clear();
    mask_.assign(static_cast<std::size_t>(count * kLength), 1.f);
    for (Index row = 0; row < count; ++row) {
      for (Index i = 0; i < kLength; ++i) {
        inputs_.push_back(token(row, i)), labels_.push_back(token(row, i + 1));
      }
    }
    return {
        .samples = count,
        .sequence_length = kLength,
        .columns = {
            {models::kTokens, inputs_}, {models::kLabels, labels_}, {models::kLossMask, mask_}}};
  }
  void expect_second_gradients(TrainedModel& model) const {
    for (const autograd::Parameter& parameter : model.parameters()) {
      if (parameter.role.low_rank) {
        const double expected = result_.at("grad_l2_second_step").at(peft_name(parameter));
        EXPECT_NEAR(norm(test::values_of(parameter.sink.main_grad)), expected, 1e-5 * expected)
            << parameter.name;
      }
    }
  }

  std::optional<io::PeftFolder> adapter_;
  std::optional<io::SafetensorsFile> expected_, tokens_;
  std::optional<convert::ModelReader> base_;
  config::RunConfig run_;
  nlohmann::json result_;
  std::vector<std::int64_t> inputs_, labels_;
  std::vector<float> mask_;
};

TEST_P(Recorded, TrainsAsPeftDoes) {
  const auto device = device::make_device("host");
  const auto world = comm::make_single_world();
  TrainedModel model(*device, run_, *world);
  Timers timers{0, config::TimingLogOption::max};
  TrainStep step(*device, model, run_, timers);
  fill(model);
  step.values_loaded(false);
  for (Index i = 0; i < kSteps; ++i) {
    StepReport report = step.compute_gradients(i + 1, 1, [&] { return rows(i, kRows); });
    const double expected = result_.at("losses").at(static_cast<std::size_t>(i));
    EXPECT_NEAR(report.loss(), expected, 1e-5 * expected) << "step " << i;
    if (i == 1) {
      expect_second_gradients(model);
    }
    step.update(report, kRows);
  }
  for (const autograd::Parameter& parameter : model.parameters()) {
    if (parameter.role.low_rank) {
      const auto& stored = adapter_->weights().at(peft_name(parameter));
      expect_close(test::values_of(parameter.value), values(stored), 1e-4, parameter.name);
    }
  }
}

TEST_P(Recorded, MergedWeightsAreThoseOfPeft) {
  const auto merged = convert::merged(base_->stored(), *adapter_);
  Index compared = 0;
  for (const auto& [name, stored] : expected_->tensors()) {
    if (name.starts_with("merged/")) {
      const convert::HostTensor weight = merged->read(name.substr(7));
      const io::SafetensorsFile::Tensor own{{name, stored.type, stored.shape}, weight.bytes()};
      expect_close(values(own), values(stored), 1e-6, name);
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(LowRank, Recorded, ::testing::Values("all_linear", "qv_patterns"));

}  // namespace low_rank_test
}  // namespace mpitron::train

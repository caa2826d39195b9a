#include "cli/generation/adapter_folder.h"

#include <filesystem>

#include "autograd/cached_pass.h"
#include "cli/command_test.h"
#include "convert/adapters.h"
#include "convert/model_logits.h"
#include "convert/model_reader.h"
#include "convert/translation.h"
#include "inference/cached_engine.h"
#include "inference/scheduling/generator.h"
#include "io/arrays/peft_folder.h"
#include "models/make_model.h"
#include "support/corpus.h"
#include "support/golden_folder.h"
#include "support/host_runtime.h"
#include "tests/inference/tiny_decoder.h"
#include "tokenizers/core/null_tokenizer.h"
#include "utils/error.h"

namespace mpitron::cli {
namespace adapter_folder_test {

using inference::Answer;

TEST(AdapterFolders, HaveNames) {
  const auto folders = adapter_folders({"a=x/y", "x/tuned/", "b=c=d"}, "base");
  ASSERT_EQ(folders.size(), 3u);
  EXPECT_EQ(folders[0].name + " " + folders[0].folder, "a x/y");
  EXPECT_EQ(folders[1].name, "tuned");
  EXPECT_EQ(folders[2].name + " " + folders[2].folder, "b c=d");
  EXPECT_THROW(adapter_folders({"a=x", "a=y"}, "base"), Error);
  EXPECT_THROW(adapter_folders({"base=x"}, "base"), Error);
  EXPECT_THROW(adapter_folders({"a b=x"}, "base"), Error);
}

/// PEFT's adapters of one base (golden/generation/lora).
class RecordedAdapters : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder_ + "base")) {
      GTEST_SKIP() << folder_ << ": not in this set of reference data";
    }
  }
  /// With the weights of the base, or with those that it has with an adapter.
  std::unique_ptr<models::Model> model(const std::string& merged = "") {
    convert::ModelReader reader(folder_ + "base", {.format = convert::Format::hugging_face,
                                                   .make_vocab_size_divisible_by = 1});
    config_ = reader.description().model;
    auto model = models::make_model(config_, *device_, share());
    model->initialize();
    if (merged.empty()) {
      convert::load_values(*device_, *model, reader.ours());
    } else {
      const io::PeftFolder adapter(folder_ + merged);
      const auto stored = convert::merged(reader.stored(), adapter);
      const auto ours = convert::to_ours(*stored, *reader.table());
      convert::load_values(*device_, *model, *ours);
    }
    return model;
  }
  models::Model::Share share() const {
    return {.groups = comm::groups_of_one(*comm::make_single_world()),
            .part = nn::whole_model(config_)};
  }
  inference::AdapterHandle read(const std::string& name, Index number) {
    return read_adapter(*device_, config_, share(), number, folder_ + name);
  }
  /// Greedy answers, with the log-probabilities of prompts and answers.
  std::vector<Answer> answers(const models::Model& model,
                              const std::vector<inference::AdapterHandle>& adapters) {
    inference::CachedEngine engine(
        *device_, model,
        {.block_size = 16, .blocks = 40, .slots = 6, .weights = kernels::WeightFormat::fp32}, 63);
    std::vector<inference::GenerationRequest> requests;
    for (const auto& adapter : adapters) {
      requests.push_back({.prompt = {5, 17, 3, 42, 8, 30},
                          .max_tokens = 12,
                          .sampling = {.top_k = 1},
                          .log_probs = 0,
                          .prompt_log_probs = true,
                          .adapter = adapter});
    }
    const tokenizers::NullTokenizer tokenizer(62);
    return inference::Generator(engine, tokenizer, {}).run(std::move(requests));
  }
  static void expect_same(const Answer& got, const Answer& want) {
    EXPECT_EQ(got.tokens, want.tokens);
    ASSERT_EQ(got.prompt_log_probs.size(), want.prompt_log_probs.size());
    for (std::size_t i = 0; i < want.prompt_log_probs.size(); ++i) {
      EXPECT_NEAR(got.prompt_log_probs[i].token.value, want.prompt_log_probs[i].token.value, 2e-6F);
    }
    for (std::size_t i = 0; i < want.log_probs.size(); ++i) {
      EXPECT_NEAR(got.log_probs[i].token.value, want.log_probs[i].token.value, 2e-6F);
    }
  }

  const std::string folder_ = mpitron::test::golden_folder() + "/generation/lora/";
  const std::unique_ptr<device::Device> device_ = device::make_device("host");
  config::ModelConfig config_;
};

TEST_F(RecordedAdapters, AnswerTogetherAsMergedOnes) {
  const auto base = model();
  const auto all = read("all_linear", 1), some = read("qv_patterns", 2);
  const std::vector<Answer> mixed = answers(*base, {all, nullptr, some, all, nullptr, some});
  const std::vector<Answer> plain = answers(*base, {nullptr});
  EXPECT_EQ(mixed[1].tokens, plain[0].tokens);
  EXPECT_EQ(mixed[1].log_probs[3].token.value, plain[0].log_probs[3].token.value);
  const Answer with_all = answers(*model("all_linear"), {nullptr})[0];
  const Answer with_some = answers(*model("qv_patterns"), {nullptr})[0];
  for (const std::size_t i : {0U, 3U}) {
    expect_same(mixed[i], with_all);
    expect_same(mixed[i + 2], with_some);
  }
  EXPECT_NE(with_all.tokens, plain[0].tokens);
}

TEST_F(RecordedAdapters, OfAnotherModelAreRefused) {
  model();
  config_.num_layers = 1;
  const auto message = [&](const std::string& name) {
    return mpitron::test::message_of([&] { read(name, 1); });
  };
  EXPECT_NE(message("all_linear").find("layers.1.mlp.down_proj: the model has 1 layers"),
            std::string::npos)
      << message("all_linear");
  config_.num_layers = 2;
  config_.ffn_hidden_size = 48;
  EXPECT_NE(message("all_linear")
                .find("model.layers.0.mlp.gate_proj.lora_B.weight is 56 x 4, here [48, 4]"),
            std::string::npos)
      << message("all_linear");
  EXPECT_NE(message("base").find("adapter_config.json"), std::string::npos) << message("base");
}

/// Updates of some experts of a model with two, in a folder of PEFT.
class AdaptersOfExperts : public ::testing::Test {
 protected:
  void write(const std::vector<int>& experts, const char* mlp = "mlp") const {
    std::vector<io::SafetensorsEntry> layout;
    for (const int expert : experts) {
      const std::string module =
          fmt::format("{}model.layers.0.{}.experts.{}.up_proj.", io::kPeftPrefix, mlp, expert);
      layout.push_back({module + "lora_A.weight", io::ElementType::f32, {2, 32}});
      layout.push_back({module + "lora_B.weight", io::ElementType::f32, {128, 2}});
    }
    io::SafetensorsWriter writer(folder_ / "adapter_model.safetensors", layout);
    for (const io::SafetensorsEntry& each : layout) {
      const std::vector<float> values(static_cast<std::size_t>(each.shape[0] * each.shape[1]), 1);
      writer.write(std::as_bytes(std::span(values)));
    }
    writer.commit();
    const io::PeftConfig settings{.rank = 2, .alpha = 6, .target_modules = {"up_proj"}};
    mpitron::test::write_bytes(folder_ / "adapter_config.json", io::peft_config_json(settings));
  }
  inference::AdapterHandle read(const comm::ParallelGroups& groups) const {
    return read_adapter(*device_, config_, {.groups = groups, .part = nn::whole_model(config_)}, 1,
                        folder_.path());
  }

  const mpitron::test::TemporaryFolder folder_;
  const std::unique_ptr<device::Device> device_ = device::make_device("host");
  const config::ModelConfig config_ = mpitron::test::tiny_decoder(
      {"--num-layers", "1", "--num-experts", "2", "--disable-bias-linear"});
};

TEST_F(AdaptersOfExperts, AreReadWhereExpertsLieWhole) {
  write({0, 1});
  const auto groups = comm::groups_of_one(*comm::make_single_world());
  const inference::AdapterHandle adapter = read(groups);
  const auto* const factors = adapter->find("model.layers.0.mlp.experts.1.up_proj");
  ASSERT_NE(factors, nullptr);
  EXPECT_EQ(factors->scale, 3);
  EXPECT_EQ(factors->b->value.data<float>()[0], 1);
  write({1});
  const std::string text = mpitron::test::message_of([&] { read(groups); });
  EXPECT_NE(text.find("experts.1.up_proj is updated, and the first expert of its rank is not"),
            std::string::npos)
      << text;
}

TEST_F(AdaptersOfExperts, AreReadInTheWordsOfLlama4) {
  write({0, 1}, "feed_forward");
  const inference::AdapterHandle adapter = read(comm::groups_of_one(*comm::make_single_world()));
  EXPECT_NE(adapter->find("model.layers.0.mlp.experts.1.up_proj"), nullptr);
}

/// A part that comes in is cut by its rows.
TEST_F(AdaptersOfExperts, AreReadInPiecesWhereRanksShareEachExpert) {
  write({0, 1});
  comm::run_thread_world(2, [&](comm::World& world) {
    const comm::RankGrid grid(2, {.tensor = 2});
    const inference::AdapterHandle adapter = read(comm::make_parallel_groups(world, grid));
    const auto* const factors = adapter->find("model.layers.0.mlp.experts.1.up_proj");
    ASSERT_NE(factors, nullptr);
    EXPECT_EQ(to_string(factors->a->value.shape()), "[2, 32]");
    EXPECT_EQ(to_string(factors->b->value.shape()), "[64, 2]");
  });
}

}  // namespace adapter_folder_test
}  // namespace mpitron::cli

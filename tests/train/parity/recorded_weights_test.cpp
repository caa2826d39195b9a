#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "models/gpt/gpt_model.h"
#include "support/corpus.h"
#include "train/parity/recorded_case.h"

namespace mpitron::train {
namespace recorded_weights_test {

std::string recorded() {
  return test::golden_folder() + "/curves/gpt-rope-gqa";
}

TEST(RecordedWeights, LoadsTheWeightsOfItsOwnModelOnly) {
  const RecordedCase recording(recorded());
  const auto device = device::make_device("host");
  const auto load = [&](const std::vector<std::string>& more) {
    std::vector<std::string> flags = recording.flags();
    flags.insert(flags.end(), more.begin(), more.end());
    config::RunConfig config = config::parse_run_config(flags);
    config.model.padded_vocab_size = 256;
    models::GptModel model(config.model, *device);
    model.initialize();
    const std::string message =
        test::message_of([&] { recording.load_weights(*device, model.parameters()); });
    const io::SafetensorsFile weights(recorded() + "/weights.safetensors");
    const auto& parameter = *model.parameters().begin();
    const auto expected = weights.at(parameter.name).as<float>();
    return std::pair(message, parameter.value.data<float>()[1] == expected[1]);
  };
  EXPECT_EQ(load({}), std::pair(std::string(), true));
  EXPECT_NE(load({"--num-layers", "5"}).first.find("missing: "), std::string::npos);
  EXPECT_NE(load({"--num-layers", "3"}).first.find("not in the model: "), std::string::npos);
  EXPECT_NE(load({"--ffn-hidden-size", "128"}).first.find("recorded F32 "), std::string::npos);
}

TEST(RecordedWeights, NamesOfOtherReleasesAreFound) {
  const auto found = [](const std::string& ours, const std::string& recorded_name) {
    return name_in_record(ours, [&](const std::string& name) { return name == recorded_name; }) ==
           recorded_name;
  };
  EXPECT_TRUE(found("decoder.layers.0.mixer.conv1d.bias", "decoder.layers.0.mixer.conv1d.bias"));
  EXPECT_TRUE(found("decoder.layers.0.mixer.conv1d.bias", "decoder.layers.0.mixer.conv1d_bias"));
  EXPECT_TRUE(found("mtp.layers.0.transformer_layer.mlp.router.expert_bias",
                    "mtp.layers.0.mtp_model_layer.mlp.router.expert_bias"));
  // A gated delta net's convolution has one name in all releases.
  EXPECT_TRUE(found("mtp.layers.0.transformer_layer.self_attention.conv1d.weight",
                    "mtp.layers.0.mtp_model_layer.self_attention.conv1d.weight"));
  EXPECT_FALSE(found("decoder.layers.0.mlp.linear_fc1.weight", "decoder.layers.0.mlp.w1"));
}

TEST(RecordedWeights, TheNormOfADeltaNetIsRecordedAsTheOthers) {
  RecordedCase recording(recorded());
  config::RunConfig config = config::parse_run_config(recording.flags());
  const std::string norm = "decoder.layers.0.self_attention.out_norm.weight";
  recording.apply_settings_without_flags(config);
  EXPECT_EQ(recording.recorded_less(norm), 0);
  config.model.apply_layernorm_1p = true;
  recording.apply_settings_without_flags(config);
  EXPECT_EQ(recording.recorded_less(norm), 1);
  EXPECT_EQ(recording.recorded_less("decoder.final_layernorm.weight"), 0);
}

}  // namespace recorded_weights_test

}  // namespace mpitron::train

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

}  // namespace recorded_weights_test

}  // namespace mpitron::train

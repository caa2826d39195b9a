#include <gtest/gtest.h>

#include "convert/config_changes.h"
#include "convert/description/config_reading.h"

namespace mpitron::convert {
namespace vision_config_test {

using test::refusal;
using test::with;

TEST(VisionConfig, SaysWhatDiffers) {
  const std::pair<test::Json, const char*> wrong[] = {
      {{{"vision_feature_layer", -9}}, "vision_feature_layer -9"},
      {{{"vision_feature_layer", {-2, -5}}}, "vision_feature_layer [-2,-5]"},
      {{{"vision_feature_select_strategy", "cls"}}, "strategy cls"},
      {{{"projector_hidden_act", "relu"}}, "projector_hidden_act relu"},
      {{{"multimodal_projector_bias", false}}, "multimodal_projector_bias"},
      {{{"vision_config", {{"model_type", "siglip_vision_model"}}}}, "siglip_vision_model"},
      {{{"vision_config", {{"hidden_act", "relu"}}}}, "hidden_act relu"},
      {{{"vision_config", {{"image_size", 100}}}}, "patches that do not fill"},
      {{{"text_config", {{"model_type", "gemma"}}}}, "model_type gemma"},
  };
  for (const auto& [change, part] : wrong) {
    EXPECT_NE(refusal(with("llava", change)).find(part), std::string::npos)
        << change.dump() << ": " << refusal(with("llava", change));
  }
}

}  // namespace vision_config_test

}  // namespace mpitron::convert

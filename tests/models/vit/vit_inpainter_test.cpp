#include "models/vit/vit_inpainter.h"

#include "models/model_parts.h"
#include "support/image_batch.h"

namespace mpitron::models {
namespace vit_inpainter_test {

class VitInpainterTest : public ModelParts {
 protected:
  Make make() {
    return [this](Model::Share share) {
      return std::make_unique<VitInpainter>(config_, *device_, std::move(share));
    };
  }
  config::ModelConfig config_ = test::tiny_vit(config::VisionTask::inpaint);
};

TEST_F(VitInpainterTest, PartsOfAPipelineMakeTheWhole) {
  config_.num_layers = 3;
  expect_parts_make_the_whole(make(), test::image_batch(*device_, config_.vision), 3);
}

TEST_F(VitInpainterTest, SmallImagesHaveNoSimilarity) {
  const PartsResult result =
      run(make(), test::image_batch(*device_, config_.vision), {nn::whole_model(config_)});
  EXPECT_EQ(result.losses.size(), 2u);  // loss and psnr
}

}  // namespace vit_inpainter_test
}  // namespace mpitron::models

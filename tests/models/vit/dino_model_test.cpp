#include "models/vit/dino_model.h"

#include <cmath>

#include <gtest/gtest.h>

#include "models/vit/dino_batch.h"
#include "models/vit/vit_batch.h"
#include "support/host_runtime.h"
#include "support/image_batch.h"

namespace mpitron::models {
namespace dino_model_test {

class DinoModelTest : public ::testing::Test {
 protected:
  DinoModelTest() {
    config_ = test::tiny_vit(config::VisionTask::dino);
    config_.vision.class_tokens = 2;
    config_.vision.dino = {.local_size = 2,
                           .local_crops = 1,
                           .head_hidden_size = 6,
                           .bottleneck_size = 4,
                           .outputs = 5,
                           .iterations_per_epoch = 1,
                           .iterations = 10};
    config_.hidden_dropout = config_.attention_dropout = 0;
    config_.seq_length = config_.max_position_embeddings = config_.vision.positions();
    for (Index i = 0; i < 2 * config_.vision.crop_pixels(); ++i) {
      pixels_.push_back(static_cast<float>(i * 7 % 13) / 8 - 0.75f);
    }
  }
  std::unique_ptr<DinoModel> make() {
    const auto groups = comm::groups_of_one(*comm::make_single_world());
    auto model = std::make_unique<DinoModel>(
        config_, *device_,
        Model::Share{.groups = groups, .part = {.num_layers = config_.num_layers}});
    model->initialize();
    test::make_main_grads(*device_, model->parameters());
    return model;
  }
  Batch batch(const Model& model) const {
    static const std::vector<float> weights{1, 1};
    return model.batch({.samples = 2, .columns = {{kPixels, pixels_}, {kLossMask, weights}}}, {});
  }
  autograd::Context context(autograd::Tape* tape) {
    return {
        .device = *device_, .seed = 3, .iteration = 1, .recorder = {.tape = tape, .usage = tape}};
  }

  std::unique_ptr<device::Device> device_ = device::make_device("host");
  config::ModelConfig config_;
  std::vector<float> pixels_;
};

TEST_F(DinoModelTest, TheTeacherIsAnAverageAndTakesNoGradient) {
  const auto model = make();
  model->begin_step(3);
  autograd::Tape tape;
  autograd::Context cx = context(&tape);
  const auto objectives = model->objectives(cx, batch(*model));
  ASSERT_EQ(objectives.size(), 1u);
  tape.backward(cx, objectives[0].losses.slot, objectives[0].seed(cx, 1));
  for (const autograd::Parameter& parameter : model->parameters()) {
    const bool teacher = parameter.name.starts_with("teacher.");
    EXPECT_EQ(parameter.role.frozen, teacher) << parameter.name;
    EXPECT_EQ(parameter.role.average_of != nullptr, teacher);
    EXPECT_EQ(parameter.sink.written, !teacher) << parameter.name;
  }
}

TEST_F(DinoModelTest, TheCentreMovesWithTheStepAndNotBefore) {
  const auto model = make();
  autograd::Buffer& centre = model->parameters().buffers().front();
  const auto loss_of_step = [&] {
    model->begin_step(2);
    autograd::Tape tape;
    autograd::Context cx = context(&tape);
    return test::values_of(model->objectives(cx, batch(*model))[0].losses.value);
  };
  const std::vector<double> first = loss_of_step();
  EXPECT_EQ(test::values_of(centre.value), std::vector<double>(5, 0.0));
  EXPECT_EQ(loss_of_step(), first);  // as if it were the first time
  model->end_step();
  EXPECT_NE(test::values_of(centre.value), std::vector<double>(5, 0.0));
  EXPECT_NE(loss_of_step(), first);
}

TEST_F(DinoModelTest, TheLastLayerIsHeldInTheFirstEpoch) {
  const auto model = make();
  autograd::Parameter& last = *model->parameters().find("student.head.last_layer.weight_v");
  model->begin_step(1);
  EXPECT_TRUE(last.role.held);
  EXPECT_FALSE(last.counts_in_norm(0));
  model->begin_step(2);
  EXPECT_FALSE(last.role.held);
}

TEST_F(DinoModelTest, WholeImagesHaveFeatures) {
  const auto model = make();
  const std::vector<float> pixels(static_cast<std::size_t>(2 * config_.vision.pixels()), 0.5f);
  const Batch images = model->batch({.samples = 2, .columns = {{kPixels, pixels}}}, {});
  autograd::Context cx = context(nullptr);
  EXPECT_EQ(model->logits(cx, images).shape(), (Shape{1, 2, config_.hidden_size}));
  EXPECT_EQ(model->logits(cx, batch(*model)).shape(), (Shape{1, 6, 5}));
}

}  // namespace dino_model_test
}  // namespace mpitron::models

#include <gtest/gtest.h>

#include "cli/tiny_run.h"
#include "convert/tiny_models.h"
#include "support/drawn_images.h"

namespace mpitron::cli {
namespace pretrain_vision_test {

using namespace mpitron::test;

/// Squares and discs, 12 of each to train and 4 to validate.
class PretrainVision : public ::testing::Test {
 protected:
  PretrainVision() {
    for (const std::string set : {"train", "valid"}) {
      for (long i = 0; i < (set == "train" ? 12 : 4); ++i) {
        write_file(folder_ / (set + "/square/" + std::to_string(i) + ".ppm"), drawn_image(0, i));
        write_file(folder_ / (set + "/disc/" + std::to_string(i) + ".ppm"), drawn_image(1, i));
      }
    }
  }
  std::string train(const std::string& task, const Words& more,
                    const Words& data = {"train", "valid"}) const {
    return finished(task, more, data).out;
  }
  Finished finished(const std::string& task, const Words& more,
                    const Words& data = {"train", "valid"}) const {
    const Finished run = run_program(
        folder_.path(), Words{"pretrain-vision-" + task, "--data-path"} + data + kModel + more);
    EXPECT_EQ(run.code, 0) << run.err;
    return run;
  }

  inline static const Words kModel = {"--num-layers",
                                      "2",
                                      "--hidden-size",
                                      "16",
                                      "--num-attention-heads",
                                      "2",
                                      "--patch-dim",
                                      "8",
                                      "--img-h",
                                      "24",
                                      "--img-w",
                                      "24",
                                      "--class-token-length",
                                      "1",
                                      "--micro-batch-size",
                                      "2",
                                      "--global-batch-size",
                                      "4",
                                      "--train-iters",
                                      "4",
                                      "--lr",
                                      "1e-3",
                                      "--log-interval",
                                      "1",
                                      "--eval-iters",
                                      "1"};
  inline static const Words kDino = {
      "--dino-local-img-size",    "8", "--dino-local-crops-number", "2",
      "--dino-head-hidden-size",  "8", "--dino-bottleneck-size",    "4",
      "--dino-out-dim",           "8", "--iter-per-epoch",          "1",
      "--dino-freeze-last-layer", "1"};
  const TemporaryFolder folder_;
};

TEST_F(PretrainVision, DinoAsksNeighboursAndGoesOnBitForBit) {
  const std::string whole = train("dino", kDino);
  EXPECT_TRUE(contains(whole, "knn_acc_10")) << whole;
  EXPECT_TRUE(contains(whole, "knn_acc_200")) << whole;
  const Words lines = result_lines(whole);
  ASSERT_EQ(lines.size(), 4U) << whole;
  train("dino", kDino + Words{"--save", "run", "--save-interval", "2", "--exit-interval", "2"});
  EXPECT_EQ(result_lines(train("dino", kDino + Words{"--load", "run"})),
            Words(lines.begin() + 2, lines.end()));
}

TEST_F(PretrainVision, PositionsOfSmallerImagesAreResized) {
  const Words heads = {"--num-classes", "2"};
  train("classify", heads + Words{"--save", "run"});
  const Finished larger = finished(
      "classify", heads + Words{"--load", "run", "--finetune", "--img-h", "32", "--img-w", "32"});
  EXPECT_TRUE(contains(larger.err, "10 rows of positions are resized to 17")) << larger.err;
}

TEST_F(PretrainVision, ArchivesTrainAsTheirFolders) {
  const Words heads = {"--num-classes", "2"};
  const Words lines = result_lines(train("classify", heads));
  for (const char* set : {"train", "valid"}) {
    ASSERT_EQ(
        run_program(folder_.path(), {"dataset", "images", "pack", set, std::string(set) + ".h5"})
            .code,
        0);
  }
  EXPECT_EQ(result_lines(train("classify", heads, {"train.h5", "valid.h5"})), lines);
}

/// A ViT of Hugging Face is learned on and goes back; the run takes its sizes.
TEST_F(PretrainVision, BeginsWithAHuggingFaceFolder) {
  write_hugging_face_folder(folder_.path() / "vit", "vit");
  const Words from = {"--load", "vit", "--use-checkpoint-args"};
  const Finished run = finished("classify", from + Words{"--save", "run", "--save-interval", "4"});
  EXPECT_TRUE(contains(run.out + run.err, "weights from vit")) << run.out;
  const Finished back = run_program(folder_.path(), {"convert", "--from", "run", "--to", "out",
                                                     "--to-format", "huggingface", "--verify"});
  EXPECT_EQ(back.code, 0) << back.err;
  const std::string config = read_file((folder_.path() / "out/config.json").string());
  EXPECT_TRUE(contains(config, "ViTForImageClassification")) << config;
  EXPECT_TRUE(contains(config, "\"image_size\": 12")) << config;
  EXPECT_TRUE(contains(config, "LABEL_4")) << config;
}

}  // namespace pretrain_vision_test
}  // namespace mpitron::cli

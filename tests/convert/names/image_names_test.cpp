#include <gtest/gtest.h>

#include "convert/config_changes.h"
#include "convert/translation.h"

namespace mpitron::convert {
namespace image_names_test {

struct Vit {
  test::ReferenceModel model = test::reference_model("vit");
  ModelDescription description = read_hugging_face_config(model.config, "config.json", 8);
  NameTable table = make_name_table("vit", description);
};

TEST(ImageNames, EveryTensorHasItsPlace) {
  Vit vit;
  EXPECT_EQ(check_theirs(vit.model.weights, vit.table).problems(true), "");
  const auto ours = to_ours(vit.model.weights, vit.table);
  EXPECT_EQ(check_ours(*ours, vit.table).problems(true), "");
  const auto back = to_theirs(*ours, vit.table);
  for (const TensorInfo& info : vit.model.weights.tensors()) {
    EXPECT_EQ(back->find(info.name)->shape, info.shape) << info.name;
    EXPECT_EQ(test::floats_of(back->read(info.name)),
              test::floats_of(vit.model.weights.read(info.name)))
        << info.name;
  }
}

/// Theirs: a plane of the patch for each colour; ours: pixel by pixel.
TEST(ImageNames, ColoursOfAPixelLieSideBySide) {
  Vit vit;
  const std::string theirs = "vit.embeddings.patch_embeddings.projection.weight";
  const auto ours = to_ours(vit.model.weights, vit.table);
  const std::vector<float> a = test::floats_of(ours->read("backbone.linear_encoder.weight")),
                           b = test::floats_of(vit.model.weights.read(theirs));
  constexpr Index kPixels = 4 * 4, kRow = 7;
  for (Index pixel = 0; pixel < kPixels; ++pixel) {
    for (Index colour = 0; colour < 3; ++colour) {
      EXPECT_EQ(a[static_cast<std::size_t>(kRow * 3 * kPixels + pixel * 3 + colour)],
                b[static_cast<std::size_t>(kRow * 3 * kPixels + colour * kPixels + pixel)]);
    }
  }
}

TEST(ImageNames, OtherHeadsAndTokensAreToldWithTheirOption) {
  Vit vit;
  EXPECT_EQ(matching_model_type(vit.description), "vit");
  vit.description.model.vision.linear_head = false;
  vit.description.model.vision.class_tokens = 8;
  vit.description.model.vision.image_width = 16;
  EXPECT_EQ(matching_model_type(vit.description), "");
  try {
    make_name_table("vit", vit.description);
    FAIL();
  } catch (const Error& error) {
    for (const char* option : {"--class-head linear", "--class-token-length 1", "--img-w"}) {
      EXPECT_NE(std::string(error.what()).find(option), std::string::npos) << error.what();
    }
  }
}

TEST(ImageNames, AModelWithoutClassesLacksItsHead) {
  Vit vit;
  vit.model.weights.remove("classifier.weight");
  EXPECT_EQ(check_theirs(vit.model.weights, vit.table).missing,
            std::vector<std::string>{"classifier.weight"});
}

}  // namespace image_names_test
}  // namespace mpitron::convert

#include "config/model_family.h"

#include <gtest/gtest.h>

#include "config/parse/parse.h"

namespace mpitron::config {
namespace model_family_test {

TEST(ModelFamily, AWordOfModelChoosesItsRow) {
  for (const ModelFamily& family : model_families()) {
    EXPECT_EQ(&family_of(family.name), &family);
    EXPECT_EQ(&family_of(family.kind), &family);
  }
  EXPECT_EQ(family_of("unknown").kind, ModelKind::gpt);
}

TEST(ModelFamily, TheModelOfARunHasTheKindOfItsWord) {
  for (const ModelFamily& family : model_families()) {
    const ModelConfig model =
        parse_run({"--model", family.name, "--num-layers", "4", "--hidden-size", "64"}, 1)
            .run.model;
    EXPECT_EQ(model.kind, family.kind) << family.name;
    EXPECT_EQ(model.vlm.has_value(), family.samples == SampleKind::image_texts) << family.name;
    EXPECT_EQ(!model.hybrid.pattern.empty(), family.by_letters) << family.name;
    EXPECT_EQ(model.all_layers(), family.encoder_decoder ? 8 : 4) << family.name;
  }
}

}  // namespace model_family_test
}  // namespace mpitron::config

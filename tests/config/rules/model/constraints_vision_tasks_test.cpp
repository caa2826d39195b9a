#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_vision_tasks_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--img-h 32", "E260", "img_h"},
    {"--model bert --mask-factor 0.5", "E260", "--model bert is given mask_factor"},
    {"--model vit --mask-type row", "E261", "not to inpaint: mask_type"},
    {"--model vit --dino-out-dim 8", "E261", "not to dino: dino_out_dim"},
    {"--model vit --vision-pretraining-type inpaint --class-token-length 3", "E261",
     "class_token_length"},
    {"--model vit --vision-pretraining-type inpaint --num-classes 3", "E261", "num_classes"},
    {"--model vit --vision-pretraining-type dino --class-head linear", "E261", "class_head"},
    {"--model vit --vision-pretraining-type dino --dino-local-img-size 50", "E270",
     "--dino-local-img-size 48"},
    {"--model vit --vision-pretraining-type dino --drop-path-rate 1", "E270", "drop_path_rate 1"},
    {"--model vit --vision-pretraining-type dino --world-size 2 --pipeline-model-parallel-size 2",
     "E271", "pipeline_model_parallel_size 2"},
};

TEST(VisionTaskConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(VisionTaskConstraints, EveryRuleHasAnExample) {
  test::expect_examples(vision_task_constraints(), kBroken);
}

}  // namespace constraints_vision_tasks_test
}  // namespace mpitron::config

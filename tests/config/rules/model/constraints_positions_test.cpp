#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_positions_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--seq-length 64", "E016", "--max-position-embeddings 64"},
    {"--position-embedding-type rope --rotary-percent 0.05", "E019", "int(16 * 0.05) = 0"},
    {"--position-embedding-type rope --kv-channels 5", "E019", "int(5 * 1) = 5"},
    {"--position-embedding-type rope --rotary-percent 1.5", "E019", "= 24"},
    {"--rotary-seq-len-interpolation-factor 0", "E020", "0, 8"},
    {"--use-rope-scaling --rope-type yarn", "E021", "both"},
    {"--position-embedding-type rope --no-rope-freq 3", "E022",
     "--no-rope-freq 2 | --no-rope-freq 4"},
    {"--position-embedding-type rope --no-rope-freq [1,0]", "E022", "2 entries for 4 layers"},
    {"--position-embedding-type mrope", "E359", "not three numbers"},
    {"--position-embedding-type mrope --mrope-section 2 2 3", "E359", "another sum"},
    {"--position-embedding-type mrope --mrope-section 2 3 3 --rotary-base-local 1000", "E359",
     "--rotary-base-local"},
    {"--model vlm --encoder-num-layers 1 --img-h 32 --img-w 32 --position-embedding-type mrope "
     "--mrope-section 2 3 3",
     "E359", "a class token behind the encoder"},
    {"--model vlm --encoder-num-layers 1 --img-h 32 --img-w 32 --position-embedding-type mrope "
     "--mrope-section 2 3 3 --disable-vision-class-token --use-tiling --max-num-tiles 2",
     "E359", "--use-tiling"},
    {"--position-embedding-type rope --mrope-section 2 3 3", "E359",
     "no --position-embedding-type"},
};

TEST(PositionConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(PositionConstraints, EveryRuleHasAnExample) {
  test::expect_examples(position_constraints(), kBroken);
}

}  // namespace constraints_positions_test
}  // namespace mpitron::config

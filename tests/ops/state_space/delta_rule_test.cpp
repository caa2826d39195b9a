#include "ops/state_space/delta_rule.h"

#include "ops/state_space/mixer_fixture.h"

namespace mpitron::ops {
namespace delta_rule_test {

using DeltaRuleTest = MixerFixture;

TEST_F(DeltaRuleTest, BackwardOfTheDeltaNetIsTheGradient) {
  check(delta_net(), {});
}

}  // namespace delta_rule_test
}  // namespace mpitron::ops

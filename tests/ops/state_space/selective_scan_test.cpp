#include "ops/state_space/selective_scan.h"

#include "ops/state_space/mixer_fixture.h"

namespace mpitron::ops {
namespace selective_scan_test {

using SelectiveScanTest = MixerFixture;

TEST_F(SelectiveScanTest, BackwardOfMambaIsTheGradient) {
  check(mamba(), {});
}

}  // namespace selective_scan_test
}  // namespace mpitron::ops

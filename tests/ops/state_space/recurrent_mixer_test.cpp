#include "ops/state_space/recurrent_mixer.h"

#include "ops/state_space/mixer_fixture.h"

namespace mpitron::ops {
namespace recurrent_mixer_test {

using RecurrentMixerTest = MixerFixture;

TEST_F(RecurrentMixerTest, BackwardOfSeveralDocumentsIsTheGradient) {
  check(mamba(), documents());
}

TEST_F(RecurrentMixerTest, DocumentsOfADeltaNetToo) {
  check(delta_net(), documents());
}

}  // namespace recurrent_mixer_test
}  // namespace mpitron::ops

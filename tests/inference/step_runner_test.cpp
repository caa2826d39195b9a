#include "inference/step_runner.h"

#include <gtest/gtest.h>

#include "support/host_runtime.h"
#include "tests/inference/encoded_steps.h"

namespace mpitron::inference {
namespace step_runner_test {

TEST(StepRunner, DecodesWhatWasEncoded) {
  test::expect_decodes_what_was_encoded(*device::make_device("host"));
}

}  // namespace step_runner_test
}  // namespace mpitron::inference

#include "optim/matrices/soap.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::optim {
namespace soap_test {

using tensor::Tensor;

/// Updates of emerging_optimizers 0.2.0's SOAP, computed in fp64 (float64 for its float32): in fp32
/// its first update divides rounding by itself.
struct Recorded {
  config::SoapConfig config;
  std::vector<std::vector<double>> updates;
};
const std::vector<double> kFirst = {0.50599253, 0.059590835, 0.8604769,  0.27948207, 0.93246153,
                                    -0.2289219, -0.81600326, 0.35632065, 0.45516398};
const std::vector<double> kSecond = {0.34746104, 0.52988031,  1.1760179, 1.1968997,   -0.22109436,
                                     0.15983507, 0.055251876, 1.1152719, 0.0066842151};
const Recorded kRecorded[] = {{{.frequency = 1, .kl = true},
                               {kFirst,
                                kSecond,
                                {0.3693038, -0.027324398, 0.3829172, 0.88431862, 0.59895704,
                                 0.9729158, 0.29025908, -0.22832777, -0.24497999}}},
                              {{.frequency = 1, .kl = false},
                               {kFirst,
                                {0.60965643, -0.45581284, 1.601094, 1.4930877, -0.82001988,
                                 0.67482525, 0.61820171, 2.8895197, 1.1841044},
                                {0.61124895, -0.86270072, 1.6617069, 1.1347363, 0.32542191,
                                 1.9945262, 0.63027194, 0.37783534, 0.36883887}}},
                              {{.frequency = 2, .kl = false},
                               {kFirst,
                                kSecond,
                                {0.38044296, -0.53388302, 1.1412915, 0.96129189, 0.57042819,
                                 1.5847784, 0.45678151, 0.16743357, 0.16156073}}}};
const std::vector<double> kGradients[] = {{0.5, -0.25, 1, 0.125, 0.75, -0.5, -0.75, 0.25, 0.375},
                                          {-0.5, 0.5, 0.25, 1, -0.125, 0.375, 0.25, 0.625, -1},
                                          {0.25, 0.125, -0.75, -0.25, 0.5, 1, 0.875, -0.5, 0.125}};

class Soap : public ::testing::TestWithParam<const char*> {
 protected:
  std::vector<double> update(const Shape& shape, const std::vector<double>& gradient,
                             MatrixState& state, Index number) {
    return test::values_of(soap_direction(*device_, config_,
                                          test::make_tensor(*device_, shape, DType::f32, gradient),
                                          state, number));
  }
  static void expect_near(const std::vector<double>& values, const std::vector<double>& expected,
                          double tolerance) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(values[i], expected[i], tolerance) << "element " << i;
    }
  }

  std::unique_ptr<device::Device> device_ = device::make_device(GetParam());
  config::OptimizerConfig config_;
};

TEST_P(Soap, UpdatesAreThoseOfTheReference) {
  for (const Recorded& recorded : kRecorded) {
    config_.soap = recorded.config;
    MatrixState state = soap_state(*device_, {3, 3});
    for (std::size_t step = 0; step < recorded.updates.size(); ++step) {
      SCOPED_TRACE(step);
      expect_near(update({3, 3}, kGradients[step], state, static_cast<Index>(step + 1)),
                  recorded.updates[step], 1e-6);
    }
  }
}

/// Vectors without a gradient play no part.
TEST_P(Soap, TheFirstUpdateOfAWideMatrixIsTheReferences) {
  MatrixState state = soap_state(*device_, {2, 4});
  expect_near(update({2, 4}, {0.5, -0.25, 1, 0.125, 0.75, -0.5, 0.25, -1}, state, 1),
              {0.33339383, -0.14486882, 0.88506847, 0.29071525, 0.49463371, -0.34430788,
               0.019357338, -0.79775614},
              1e-6);
}

/// Where most eigenvalues are 0, rounding of gradients turns updates by no more than it is.
TEST_P(Soap, UpdatesOfATallMatrixAreSteady) {
  std::vector<std::vector<double>> ends;
  for (const double rounding : {0., 1e-7}) {
    MatrixState state = soap_state(*device_, {9, 2});
    std::vector<double> last;
    for (Index number = 1; number <= 4; ++number) {
      std::vector<double> gradient(18);
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        const double x = std::sin(static_cast<double>(number) * 7.3 + static_cast<double>(i * i));
        gradient[i] = 0.01 * x * (1 + rounding * std::cos(static_cast<double>(i)));
      }
      last = update({9, 2}, gradient, state, number);
    }
    ends.push_back(last);
  }
  expect_near(ends[1], ends[0], 1e-4);
}

/// A matrix that nothing has used stays.
TEST_P(Soap, NoGradientIsNoUpdate) {
  MatrixState state = soap_state(*device_, {2, 3});
  for (const Index number : {1, 2}) {
    expect_near(update({2, 3}, {0, 0, 0, 0, 0, 0}, state, number), {0, 0, 0, 0, 0, 0}, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Soap, ::testing::Values("reference", "host"));

}  // namespace soap_test
}  // namespace mpitron::optim

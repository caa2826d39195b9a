#include "optim/matrices/adaptive_muon.h"

#include "optim/matrices/muon_matrices.h"

namespace mpitron::optim {
namespace adaptive_muon_test {

using config::MuonMoments;
using tensor::Tensor;

/// Two updates of Megatron-Core 0.19's TensorParallelAdaptiveMuon with emerging_optimizers 0.2.0 in
/// fp32: momentum 0.9, quintic, 5 steps, unit_rms_norm, from gradients that are these.
struct Recorded {
  MuonMoments moments;
  Shape shape;
  std::array<std::vector<double>, 2> updates;
};
const std::array<std::vector<double>, 2> kGradients = {
    {{0.5, -0.25, 1, 0.125, 0.75, -0.5}, {-0.5, 0.5, 0.25, 1, -0.125, 0.375}}};
const Recorded kRecorded[] = {
    {MuonMoments::adamuon,
     {2, 3},
     {{{4.472136, 4.472131, 4.472136, 4.472136, 4.472136, -4.472135},
       {-0.3602328, 4.364766, 3.431472, 4.132624, 1.975639, -1.064466}}}},
    {MuonMoments::adamuon,
     {3, 2},
     {{{4.472136, -4.472136, 4.472136, 4.472136, 4.472136, -4.472136},
       {-2.733923, 3.47363, 2.68306, 3.657597, 3.783607, -2.440792}}}},
    {MuonMoments::normuon,
     {2, 3},
     {{{5.273035, 0.3627895, 6.026795, 3.492148, 6.314142, -1.917744},
       {-0.2552619, 1.42155, 4.749151, 5.057838, 2.718876, -0.3095201}}}},
    {MuonMoments::normuon,
     {3, 2},
     {{{4.391529, -4.551315, 5.345938, 3.37949, 3.282234, -5.406194},
       {-2.35485, 3.896179, 2.850023, 3.414852, 3.694016, -2.49725}}}},
};

using AdaptiveMuon = test::MuonMatrices;

TEST_F(AdaptiveMuon, UpdatesAreThoseOfTheReference) {
  for (const Recorded& recorded : kRecorded) {
    config::MuonConfig muon = config(config::MuonCoefficients::quintic, 5);
    muon.scale = config::MuonScale::unit_rms_norm, muon.moments = recorded.moments;
    const Tensor momentum = test::make_tensor(*device_, {6}, DType::f32, {0, 0, 0, 0, 0, 0});
    const MatrixState state = adaptive_state(*device_, muon, recorded.shape);
    for (std::size_t step = 0; step < kGradients.size(); ++step) {
      const Tensor gradient = test::make_tensor(*device_, {6}, DType::f32, kGradients[step]);
      const Tensor average =
          muon_average(*device_, muon, gradient, momentum, 1).reshape(recorded.shape);
      const std::vector<double> update = test::values_of(
          adaptive_direction(*device_, muon, muon_direction(*device_, muon, "w", average), state));
      for (std::size_t i = 0; i < update.size(); ++i) {
        EXPECT_NEAR(update[i], recorded.updates[step][i], 2e-5) << step << ' ' << i;
      }
    }
  }
}

/// As in the reference, a direction is scaled before it is squared.
TEST_F(AdaptiveMuon, TheScaleOfADirectionCancels) {
  config::MuonConfig muon = config(config::MuonCoefficients::quintic, 5);
  muon.moments = MuonMoments::adamuon;
  const Tensor average = random({4, 6});
  const auto update = [&](double scale) {
    muon.extra_scale = scale;
    return test::values_of(adaptive_direction(*device_, muon,
                                              muon_direction(*device_, muon, "w", average),
                                              adaptive_state(*device_, muon, {4, 6})));
  };
  const std::vector<double> once = update(1), twice = update(2);
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_NEAR(once[i], twice[i], 1e-3);
  }
}

}  // namespace adaptive_muon_test
}  // namespace mpitron::optim

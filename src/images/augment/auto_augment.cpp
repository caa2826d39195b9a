#include "images/augment/auto_augment.h"

#include <array>
#include <cmath>

#include "images/transforms/affine.h"
#include "images/transforms/colour.h"

// AutoAugment's policy for ImageNet (Cubuk et al. 2019), with the levels of its operations
// as the reference code scales them.

namespace mpitron::images {
namespace {

enum class Operation {
  posterise,
  rotate,
  solarise,
  autocontrast,
  equalise,
  colour,
  contrast,
  invert,
  sharpen,
  shear
};

/// An operation of a sub-policy.
struct Step {
  Operation operation;
  double probability;
  double level = 0;  // 0 to 10
};

using enum Operation;
constexpr std::array<std::array<Step, 2>, kSubPolicies> kPolicies{{
    {{{posterise, .4, 8}, {rotate, .6, 9}}}, {{{solarise, .6, 5}, {autocontrast, .6, 5}}},
    {{{equalise, .8}, {equalise, .6}}},      {{{posterise, .6, 7}, {posterise, .6, 6}}},
    {{{equalise, .4}, {solarise, .2, 4}}},   {{{equalise, .4}, {rotate, .8, 8}}},
    {{{solarise, .6, 3}, {equalise, .6}}},   {{{posterise, .8, 5}, {equalise, 1}}},
    {{{rotate, .2, 3}, {solarise, .6, 8}}},  {{{equalise, .6}, {posterise, .4, 6}}},
    {{{rotate, .8, 8}, {colour, .4, 0}}},    {{{rotate, .4, 9}, {equalise, .6}}},
    {{{equalise, 0}, {equalise, .8}}},       {{{invert, .6}, {equalise, 1}}},
    {{{colour, .6, 4}, {contrast, 1, 8}}},   {{{rotate, .8, 8}, {colour, 1, 2}}},
    {{{colour, .8, 8}, {solarise, .8, 7}}},  {{{sharpen, .4, 7}, {invert, .6}}},
    {{{shear, .6, 5}, {equalise, 1}}},       {{{colour, .4, 0}, {equalise, .6}}},
    {{{equalise, .4}, {solarise, .2, 4}}},   {{{solarise, .6, 5}, {autocontrast, .6, 5}}},
    {{{invert, .6}, {equalise, 1}}},         {{{colour, .6, 4}, {contrast, 1, 8}}},
    {{{equalise, .8}, {equalise, .6}}},
}};

/// Applies an operation at its level. `sign`: of those that have one.
Image applied(const Image& image, const Step& step, double sign) {
  const double enhanced = 1 + sign * 0.09 * step.level;
  switch (step.operation) {
    case posterise:
      return posterised(image, static_cast<int>(std::nearbyint(8 - 0.4 * step.level)));
    case rotate:
      return rotated(image, 3 * step.level);
    case solarise:
      return solarised(image, 256 - 25.6 * step.level);
    case autocontrast:
      return autocontrasted(image);
    case equalise:
      return equalised(image);
    case colour:
      return saturated(image, enhanced);
    case contrast:
      return contrasted(image, enhanced);
    case invert:
      return inverted(image);
    case sharpen:
      return sharpened(image, enhanced);
    case shear:
      return sheared(image, sign * 0.03 * step.level);
  }
  return image;
}

}  // namespace

Image with_sub_policy(const Image& image, Index policy, const Draws& draws) {
  Image result = image;
  std::uint32_t number = DrawNumber::policy + 1;
  for (const Step& step : kPolicies[static_cast<std::size_t>(policy)]) {
    const double sign = draws.happens(number + 1, 0.5) ? 1 : -1;
    if (draws.happens(number, step.probability)) {
      result = applied(result, step, sign);
    }
    number += 2;
  }
  return result;
}

Image auto_augmented(const Image& image, const Draws& draws) {
  return with_sub_policy(image, draws.below(DrawNumber::policy, kSubPolicies), draws);
}

}  // namespace mpitron::images

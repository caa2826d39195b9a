#pragma once
#include "images/augment/draws.h"
#include "images/image.h"

namespace mpitron::images {

/// Applies one of the sub-policies for ImageNet (Cubuk et al. 2019): two operations, each with a
/// probability and a level of its own.
Image auto_augmented(const Image& image, const Draws& draws);

/// Number of sub-policies; with_sub_policy applies a given one, whose operations keep their
/// probabilities.
inline constexpr Index kSubPolicies = 25;
Image with_sub_policy(const Image& image, Index policy, const Draws& draws);

}  // namespace mpitron::images

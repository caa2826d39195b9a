#pragma once
#include "inference/scheduling/sequence.h"

namespace mpitron::inference {

// Images whose positions see each other come in one step each: a step ends in none of them. Tokens
// of an image are negative.

/// Returns how many of `tokens` that come next a step may have so that it ends in no image: fewer,
/// or where that would be none all of the image, if these are at most `most`.
Index cut_at_images(const Sequence& sequence, Index tokens, Index most);

/// Counts the positions of images among the first `tokens` of a sequence.
Index count_seen(const Sequence& sequence, Index tokens);

/// Returns the positions of the longest image of a sequence; 0 without images.
Index longest_image(const Sequence& sequence);

}  // namespace mpitron::inference

#pragma once
#include "config/vision_config.h"
#include "models/base/batch.h"

namespace mpitron::models {

// Crops of a batch, image by image: patches [n, 2 b, P P 3] of the large ones stand in `patches`.
inline constexpr Field<float> kLocalPatches{"local_patches"};             // [n_local, N b, P P 3]
inline constexpr Field<std::int64_t> kLocalPositions{"local_positions"};  // [K + n_local, N b]
/// Rows of the teacher's output that each crop's is to be like, [(2 + N) b, 2]; -1 for none.
inline constexpr Field<std::int64_t> kTeacherRows{"teacher_rows"};

/// Lists what DINO reads of a batch: all crops to train, with a loss mask [(2 + N) b] that counts
/// the pairs of each; of whole images patches and positions alone.
std::span<const std::string_view> dino_fields();

Batch dino_batch(device::Device& device, const HostMicrobatch& microbatch,
                 const config::VisionConfig& vision);

}  // namespace mpitron::models

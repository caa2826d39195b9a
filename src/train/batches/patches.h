#pragma once
#include "train/batches/microbatch.h"

namespace mpitron::train {

/// Images, labels and masks on the device, as a model of images takes them: patches [n, b, P P 3]
/// in the order of rows, of numbers row, column, channel; behind the mask they are 0.
models::Batch upload_images(device::Device& device, const HostMicrobatch& microbatch);

}  // namespace mpitron::train

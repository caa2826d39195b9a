#pragma once
#include "config/vision_config.h"
#include "convert/description/stored_options.h"

namespace mpitron::convert {

/// How a stored GPT sees images, from the options of its run.
config::VlmConfig read_vision(const StoredOptions& options);

}  // namespace mpitron::convert

#pragma once
#include "convert/description/model_description.h"
#include "convert/names/name_entry.h"

namespace mpitron::convert {

/// Returns the size that stands behind the name, in the described model. Extents of experts need a
/// model that has them.
Index extent(Extent which, const ModelDescription& description);

}  // namespace mpitron::convert

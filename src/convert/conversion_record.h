#pragma once
#include <string>

#include "convert/convert.h"

namespace mpitron::convert {

/// What was converted and what proves it, as JSON; also what `--json` prints.
std::string record_json(const ConvertSettings& settings, const ConvertReport& report);

}  // namespace mpitron::convert

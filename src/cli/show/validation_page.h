#pragma once
#include <string>

#include "plan/published/validation.h"

namespace mpitron::cli {

/// One self-contained page without scripts: predicted over published seconds of each class, by
/// source, and the errors of classes and rows.
std::string validation_page(const plan::Validation& validation, const std::string& table);

}  // namespace mpitron::cli

#pragma once
#include "utils/error.h"

namespace mpitron::plan {

/// Ends of `mpitron plan` that scripts tell apart (docs/exit-codes.md).
inline constexpr auto kFitsNowhere = static_cast<ExitCode>(20);
inline constexpr auto kBadParameterFile = static_cast<ExitCode>(21);
inline constexpr auto kBadTable = static_cast<ExitCode>(22);
inline constexpr auto kDoesNotFit = static_cast<ExitCode>(23);  // ranks, in a dry run

}  // namespace mpitron::plan

#pragma once
#include <string>

#include "pipeline/schedule.h"

namespace mpitron::test {

/// The computations of a list, such as "F0 F1 B0 W0"; with chunks "F0.1".
inline std::string text_of(const pipeline::ActionList& list, bool with_chunks = false) {
  std::string text;
  for (const pipeline::Action& action : list) {
    if (action.is_compute()) {
      text += text.empty() ? "" : " ";
      text += action.kind == pipeline::ActionKind::forward           ? 'F'
              : action.kind == pipeline::ActionKind::backward_weight ? 'W'
                                                                     : 'B';
      text += std::to_string(action.microbatch);
      text += with_chunks ? "." + std::to_string(action.chunk) : "";
    }
  }
  return text;
}

}  // namespace mpitron::test

#pragma once

#include "inference/grammar/byte_network.h"
#include "utils/error.h"

// Grammars that a network refuses.

namespace mpitron::inference {

inline std::string refusal(const Grammar& grammar) {
  try {
    const ByteNetwork network(grammar);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

inline const Pattern kA = Pattern::text("a");

}  // namespace mpitron::inference

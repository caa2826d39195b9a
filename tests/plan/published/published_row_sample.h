#pragma once
#include <string>

#include "plan/planned_run.h"
#include "plan/published/prediction.h"

namespace mpitron::test {

/// A row that tells little of a model on eight GPUs.
inline plan::PublishedRow published_row(const std::string& hardware, Index layers = 24) {
  plan::PublishedRow row;
  row.source = "somebody";
  row.hardware = hardware;
  row.run = planned_run({.layers = layers, .hidden = 2048, .heads = 16}, 2048, 16,
                        {.gpus = 8, .tensor = 8});
  return row;
}

}  // namespace mpitron::test

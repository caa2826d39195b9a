#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pipeline/stage_layout.h"
#include "utils/error.h"

// Layouts of stages that options ask for.

namespace mpitron::pipeline {

/// The layers of a stage as the table writes them: first, count.
inline nlohmann::json counts_and_offsets(const StageLayout& layout) {
  nlohmann::json all = nlohmann::json::array();
  for (Index stage = 0; stage < layout.stages(); ++stage) {
    nlohmann::json chunks = nlohmann::json::array();
    for (Index chunk = 0; chunk < layout.chunks(); ++chunk) {
      chunks.push_back({layout.layers(stage, chunk).count, layout.layers(stage, chunk).first});
    }
    all.push_back(chunks);
  }
  return all;
}

inline config::ParallelConfig stages_of(Index stages, std::optional<Index> chunks = {}) {
  config::ParallelConfig p;
  p.pipeline_model_parallel_size = stages;
  p.virtual_pipeline_model_parallel_size = chunks;
  return p;
}

inline std::string error_of(const config::ParallelConfig& p, Index num_layers, Index mtp = 0) {
  try {
    make_stage_layout(p, num_layers, mtp);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

inline bool says(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos;
}

}  // namespace mpitron::pipeline

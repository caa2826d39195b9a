#pragma once
#include "config/checkpoint_config.h"
#include "config/data_config.h"
#include "config/logging_config.h"
#include "config/model_config.h"
#include "config/optimizer_config.h"
#include "config/parallel_config.h"
#include "config/training_config.h"

namespace mpitron::config {

/// One run, resolved: everything a model, optimizer, data set or trainer may ask. Each gets only
/// its own part.
struct RunConfig {
  ModelConfig model;
  ParallelConfig parallel;
  OptimizerConfig optimizer;
  TrainingConfig training;
  DataConfig data;
  LoggingConfig logging;
  CheckpointConfig checkpoint;
};

}  // namespace mpitron::config

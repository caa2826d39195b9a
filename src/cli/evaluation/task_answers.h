#pragma once
#include "cli/evaluation/cache_types.h"
#include "inference/tasks/generated_answers.h"
#include "train/session/session.h"

namespace mpitron::cli {

/// Generates the answers of a run's model to all questions of a task, in its layout: all ranks call
/// it alike and get the same ones. With a cache where the model and its layout have that path, else
/// by whole forward passes, of which a line tells the reason. Error(usage) where that leaves a
/// chosen type without what it is the type of.
inference::GeneratedAnswers answers_of_run(device::Device& device, train::Session& session,
                                           const inference::EvaluationTask& task,
                                           const std::vector<inference::TaskQuestion>& questions,
                                           const CacheTypes& types);

}  // namespace mpitron::cli

#pragma once
#include "inference/tasks/generated_answers.h"
#include "train/session/session.h"

namespace mpitron::cli {

/// Generates the answers of a run's model to all questions of a task, in its layout: all ranks call
/// it alike and get the same ones. With a cache where the model and its layout have that path, else
/// by whole forward passes, of which a line tells the reason. Error(usage) where that leaves a type
/// of the cache (--kv-cache-dtype) without one.
inference::GeneratedAnswers answers_of_run(device::Device& device, train::Session& session,
                                           const inference::EvaluationTask& task,
                                           const std::vector<inference::TaskQuestion>& questions,
                                           const std::string& cache_type);

}  // namespace mpitron::cli

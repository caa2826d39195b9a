#include "train/evaluation.h"

namespace mpitron::train {

Evaluation part_of(std::shared_ptr<const data::Dataset> dataset,
                   const config::TrainingConfig& training, Index consumed) {
  return {.dataset = std::move(dataset),
          .iterations = training.eval_iters,
          .consumed = consumed,
          .batch_size = training.global_batch_size};
}

Evaluation whole_of(std::shared_ptr<const data::Dataset> dataset,
                    const config::TrainingConfig& training) {
  const Index batch = training.global_batch_size;
  const Index samples = dataset ? dataset->size() : 0;
  return {.dataset = std::move(dataset),
          .iterations = (samples + batch - 1) / batch,
          .batch_size = batch,
          .whole = true};
}

}  // namespace mpitron::train

#include "inference/cached_engine.h"

// One pass of the model over the new tokens of all sequences. Rows of all sequences go through
// linear layers together; each attention layer finds a sequence's earlier keys and values by its
// blocks.

namespace mpitron::inference {
namespace {

EngineShape with_vocabulary(EngineShape shape, Index vocabulary) {
  shape.vocabulary = vocabulary;
  return shape;
}

}  // namespace

CachedEngine::CachedEngine(device::Device& device, const models::Model& model, EngineShape shape,
                           Index vocabulary)
    : runner_(device, model, with_vocabulary(shape, vocabulary)) {
  runner_.warm_up();
}

void CachedEngine::start(std::span<const StepPlan* const> plans) {
  logits_ = runner_.step(*plans[0]);
}

}  // namespace mpitron::inference

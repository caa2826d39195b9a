#include "inference/cached_engine.h"

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
  logits_.clear();
  runner_.append_logits(runner_.run(*plans[0]), logits_);
}

}  // namespace mpitron::inference

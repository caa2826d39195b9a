#pragma once
#include <vector>

#include "autograd/parameter_keeper.h"
#include "utils/trace.h"

namespace mpitron::train {

/// Passes everything on to another keeper and adds the passes of each layer to a trace.
class LayerTrace final : public autograd::ParameterKeeper {
 public:
  LayerTrace(autograd::ParameterKeeper& keeper, Trace* trace) : keeper_(keeper), trace_(trace) {}

  /// Returns the keeper that a context is given: this while a trace is recorded, otherwise the
  /// keeper itself.
  autograd::ParameterKeeper& keeper() {
    const bool records = trace_ != nullptr && trace_->recording();
    return records ? static_cast<autograd::ParameterKeeper&>(*this) : keeper_;
  }

  void before_use(autograd::Parameter& parameter) override { keeper_.before_use(parameter); }
  void gradient_released(autograd::Parameter& parameter, bool last_microbatch) override {
    keeper_.gradient_released(parameter, last_microbatch);
  }
  void enter(Index unit, autograd::Pass pass) override;
  void leave(Index unit, autograd::Pass pass) override;

 private:
  autograd::ParameterKeeper& keeper_;
  Trace* trace_;
  struct Begin {
    Index unit;
    autograd::Pass pass;
    std::int64_t time;
  };
  // A recomputed layer runs forward inside its backward pass, and passes of two microbatches may
  // run by turns.
  std::vector<Begin> begins_;
};

}  // namespace mpitron::train

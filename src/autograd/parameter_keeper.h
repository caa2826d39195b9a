#pragma once
#include "autograd/parameter.h"

namespace mpitron::autograd {

enum class Pass { forward, backward };

/// Whoever keeps values and gradients of parameters in parts (`parallel`) is told by the passes
/// what happens to them. Only the units' calls may move a value or a gradient's memory.
class ParameterKeeper {
 public:
  virtual ~ParameterKeeper() = default;

  /// Before a kernel of a forward pass reads the value.
  virtual void before_use(Parameter& parameter) = 0;
  /// Hears, in a backward pass, that the tape adds nothing more to this gradient.
  /// `last_microbatch`: of the step; the gradient is complete if no other tape that used it lives.
  virtual void gradient_released(Parameter& parameter, bool last_microbatch) = 0;
  /// Around the passes of a unit (a layer, by its 1-based global number): all uses of its
  /// parameters lie between them.
  virtual void enter(Index unit, Pass pass) = 0;
  virtual void leave(Index unit, Pass pass) = 0;
};

}  // namespace mpitron::autograd

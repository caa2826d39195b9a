#pragma once
#include <cstdint>

#include "autograd/auxiliary_losses.h"
#include "autograd/parameter_keeper.h"
#include "autograd/tape.h"
#include "device/device.h"
#include "utils/numbers/random_key.h"
#include "utils/numbers/sequence_map.h"

namespace mpitron::autograd {

/// Decides dropout, auxiliary losses and statistics. Recording is another thing: a tape is there or
/// not (the first pass of a recomputed block trains without one).
enum class Mode { train, evaluate };

/// The random numbers of one use: where in the run (seed, iteration) and where in the model (layer,
/// site) they are drawn. Elements are counted by global indices, so a mask does not depend on
/// layout, microbatch, recompute or stage and nothing has to be saved.
struct RngKey {
  std::uint64_t seed = 0;
  std::uint64_t iteration = 0;
  std::uint32_t layer = 0;  // 1-based global layer; 0: outside the layers
  std::uint32_t site = 0;   // which use inside the layer

  /// Returns the place in the model.
  std::uint64_t place() const { return (std::uint64_t{layer} << 32) | site; }
  Philox::Key philox() const { return place_key(step_key(seed, iteration), place()); }
};

/// Position of this microbatch in the global batch.
struct SamplePosition {
  Index first_sample = 0;  // global sample of local b = 0
  Index sample_stride = 1;
  SequenceMap sequence;  // global positions of s
  /// Numbers that kernels read in place of key and first sample, where passes are recorded to be
  /// repeated.
  const StepNumbers* replayed = nullptr;
};

class ActivationOffload;
class DeferredGradients;
struct CachedPass;

/// Followers of a pass: what is recorded for its backward half, and who hears what becomes of
/// gradients and saved tensors. Null: nobody does.
struct Recorder {
  Tape* tape = nullptr;   // records where present
  Tape* usage = nullptr;  // notes used parameters; also while a recomputed block runs without tape
  ParameterKeeper* keeper = nullptr;      // null: parameters lie here whole, gradients stay here
  DeferredGradients* deferred = nullptr;  // of a pass that leaves something for later, or for waits
  ActivationOffload* offload = nullptr;   // null: what nodes save stays where it is
  bool last_microbatch = false;           // of this step, for this tape's part of the model
  AuxiliaryLosses auxiliary = {};
};

/// Context of every op: what it reads, and the recorder of its pass.
struct Context {
  device::Device& device;
  Mode mode = Mode::train;
  std::uint64_t seed = 0;
  std::uint64_t iteration = 0;
  SamplePosition position = {};
  const CachedPass* cached = nullptr;  // of generation: rows are tokens of several sequences
  Recorder recorder = {};

  bool recording() const { return recorder.tape != nullptr; }
  bool training() const { return mode == Mode::train; }
  template <class Kernel>
  void launch(const Kernel& kernel) {
    device::launch(device.stream(), kernel);
  }
  /// Launches with scratch memory where the kernel wants some.
  template <class Kernel>
  void launch_with_workspace(Kernel kernel);
  Tensor empty(const Shape& shape, DType dtype) { return Tensor::empty(device, shape, dtype); }
  /// Before the kernel that reads the value, and before the node that adds to the gradient.
  void use(Parameter& parameter) {
    if (parameter.role.frozen) {
      return;  // nobody gathers it, nobody waits for its gradient
    }
    if (recorder.keeper != nullptr) {
      recorder.keeper->before_use(parameter);
    }
    if (recorder.usage != nullptr) {
      recorder.usage->use(parameter);
    }
  }
  /// Tape::record and record_always; while something records.
  template <class Backward>
  void record(const Slot& output, Backward backward) {
    recorder.tape->record(output, std::move(backward));
  }
  template <class Action>
  void record_always(Action action) {
    recorder.tape->record_always(std::move(action));
  }
};

/// Notes, in a backward pass, that a user of the parameter has added its last to the gradient.
void release(Context& context, Parameter& parameter);

template <class Kernel>
void Context::launch_with_workspace(Kernel kernel) {
  const Index bytes = device::workspace_bytes_of(device.stream(), kernel);
  Tensor workspace;
  if (bytes > 0) {
    workspace = empty({bytes}, DType::u8);
    kernel.workspace = workspace.view();
  }
  launch(kernel);
}

}  // namespace mpitron::autograd

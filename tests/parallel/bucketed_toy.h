#pragma once

#include "autograd/toy_model.h"
#include "parallel/bucketed_data_parallel.h"

// A toy model in buckets, and one step of it.

namespace mpitron::parallel {

namespace toy = autograd::toy;

inline std::vector<double> all_pieces(const DataParallel& replicas) {
  std::vector<double> all;
  for (const ParameterPiece& piece : replicas.pieces()) {
    const std::vector<double> values = test::values_of(piece.main_grad);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

/// Two microbatches of the residual network on this rank, as one step.
inline void run_step(device::Device& device, toy::Model& model, DataParallel& replicas,
                     unsigned first_microbatch) {
  replicas.begin_step();
  autograd::Tape tape;
  for (unsigned i = 0; i < 2; ++i) {
    autograd::Context cx{.device = device,
                         .recorder = {.tape = &tape, .usage = &tape, .keeper = &replicas}};
    cx.recorder.last_microbatch = i == 1;
    const autograd::Var y =
        model.forward(cx, autograd::variable(model.input(first_microbatch + i)), true);
    tape.backward(cx, y.slot, model.input(50 + first_microbatch + i));
    tape.clear();
  }
}

}  // namespace mpitron::parallel

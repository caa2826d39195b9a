// Hands each parameter to the replicas that it has: those of experts or all others. The list of
// pieces that others see is one.
#include "parallel/joined_data_parallel.h"

namespace mpitron::parallel {

JoinedDataParallel::JoinedDataParallel(std::unique_ptr<DataParallel> dense,
                                       std::unique_ptr<DataParallel> experts)
    : dense_(std::move(dense)), experts_(std::move(experts)) {
  pieces_.assign(dense_->pieces().begin(), dense_->pieces().end());
  for (ParameterPiece piece : experts_->pieces()) {
    piece.buffer = -1 - piece.buffer;  // none of the dense parameters'
    pieces_.push_back(piece);
  }
}

void JoinedDataParallel::begin_step() {
  dense_->begin_step();
  experts_->begin_step();
}

void JoinedDataParallel::begin_pass(autograd::Pass pass) {
  dense_->begin_pass(pass);
  experts_->begin_pass(pass);
}

void JoinedDataParallel::finish_step() {
  dense_->finish_step();
  experts_->finish_step();
}

void JoinedDataParallel::piece_updated(std::size_t piece) {
  const std::size_t dense = dense_->pieces().size();
  if (piece < dense) {
    dense_->piece_updated(piece);
  } else {
    experts_->piece_updated(piece - dense);
  }
}

void JoinedDataParallel::gather_parameters() {
  dense_->gather_parameters();
  experts_->gather_parameters();
}

void JoinedDataParallel::make_whole() {
  dense_->make_whole();
  experts_->make_whole();
}

void JoinedDataParallel::before_use(Parameter& parameter) {
  keeper_of(parameter).before_use(parameter);
}

void JoinedDataParallel::gradient_released(Parameter& parameter, bool last_microbatch) {
  keeper_of(parameter).gradient_released(parameter, last_microbatch);
}

void JoinedDataParallel::enter(Index unit, autograd::Pass pass) {
  dense_->enter(unit, pass);
  experts_->enter(unit, pass);
}

void JoinedDataParallel::leave(Index unit, autograd::Pass pass) {
  dense_->leave(unit, pass);
  experts_->leave(unit, pass);
}

}  // namespace mpitron::parallel

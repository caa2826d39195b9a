#pragma once
#include "parallel/data_parallel.h"

namespace mpitron::parallel {

/// A model whose experts have other replicas than its other parameters: each kind is kept by its
/// own, and hears of what concerns it. Pieces are those of the dense parameters, then the experts'.
class JoinedDataParallel final : public DataParallel {
 public:
  JoinedDataParallel(std::unique_ptr<DataParallel> dense, std::unique_ptr<DataParallel> experts);

  void begin_step() override;
  void begin_pass(autograd::Pass pass) override;
  void finish_step() override;
  void piece_updated(std::size_t piece) override;
  void gather_parameters() override;
  void make_whole() override;

  void before_use(Parameter& parameter) override;
  void gradient_released(Parameter& parameter, bool last_microbatch) override;
  void enter(Index unit, autograd::Pass pass) override;
  void leave(Index unit, autograd::Pass pass) override;

 private:
  DataParallel& keeper_of(const Parameter& parameter) const {
    return parameter.placement.expert ? *experts_ : *dense_;
  }

  std::unique_ptr<DataParallel> dense_;
  std::unique_ptr<DataParallel> experts_;
};

}  // namespace mpitron::parallel

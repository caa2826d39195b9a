#include "comm/work.h"

#include <sched.h>

namespace mpitron::comm {

void ProgressEngine::progress() {
  std::erase_if(under_way_, [](const std::shared_ptr<Operation>& operation) {
    operation->ended_ = operation->step();
    return operation->ended_;
  });
}

bool Work::test() {
  if (operation_ != nullptr && !operation_->ended()) {
    engine_->progress();
  }
  return operation_ == nullptr || operation_->ended();
}

void Work::wait() {
  // Members may share a core (more ranks than cores): whoever waits long gives it away.
  constexpr int kPolls = 64;
  for (int polls = 0; !test(); ++polls) {
    if (polls > kPolls) {
      ::sched_yield();
    }
  }
}

}  // namespace mpitron::comm

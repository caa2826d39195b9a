// Pools slots of gradients for the thread that uses them.
#include "autograd/var.h"

#include <deque>

namespace mpitron::autograd {

class Slot::Pool {
 public:
  static Pool& instance() {
    thread_local Pool pool;
    return pool;
  }
  Cell* take() {
    if (free_ == nullptr) {
      return &cells_.emplace_back();
    }
    Cell* cell = std::exchange(free_, free_->next_free);
    cell->handles = 1;
    return cell;
  }
  void give(Cell* cell) noexcept {
    cell->gradient = {};
    cell->next_free = free_;
    free_ = cell;
  }

 private:
  std::deque<Cell> cells_;  // never shrinks: as many as were alive at once
  Cell* free_ = nullptr;
};

Slot Slot::make() {
  Slot slot;
  slot.cell_ = Pool::instance().take();
  return slot;
}

void Slot::release() noexcept {
  if (cell_ != nullptr && --cell_->handles == 0) {
    Pool::instance().give(cell_);
  }
  cell_ = nullptr;
}

}  // namespace mpitron::autograd

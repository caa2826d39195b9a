#pragma once
#include <memory>

#include "utils/numbers/shape.h"

namespace mpitron::comm {

/// Bytes sent from process to process; between two of them, messages of one tag match in the order
/// in which they were sent and in which their receipt was asked for.
class Messages {
 public:
  /// A transfer under way; its memory stays the transfer's until it is done.
  class Transfer {
   public:
    virtual ~Transfer() = default;
    virtual bool done() = 0;
  };

  virtual ~Messages() = default;
  virtual std::unique_ptr<Transfer> send(Index to, int tag, const void* data, Index bytes) = 0;
  virtual std::unique_ptr<Transfer> receive(Index from, int tag, void* data, Index bytes) = 0;
  /// Tags are 0 .. this.
  virtual int largest_tag() const = 0;
};

}  // namespace mpitron::comm

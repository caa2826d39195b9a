#pragma once
#include "comm/shared/shared_memory.h"
#include "comm/shared/shared_table.h"

namespace mpitron::comm {

/// One end of a message between two members of a shared group; the sequence numbers of both ends
/// count the messages between them in this direction.
class SharedMessage : public Operation {
 public:
  SharedMessage(const SharedMembers& members, Request request, std::uint64_t sequence)
      : members_(members), request_(std::move(request)), sequence_(sequence) {}

  std::vector<Index> absent() const override { return {members_.group.world_rank(request_.peer)}; }

 protected:
  const SharedMembers members_;
  const Request request_;
  const std::uint64_t sequence_;
};

/// Shows the receiver where the data lies and ends when it has copied it.
class SharedSend final : public SharedMessage {
 public:
  using SharedMessage::SharedMessage;
  bool step() override;

 private:
  void post();

  SharedExposure exposure_;
  bool posted_ = false;
};

/// Copies the data from where it lies.
class SharedReceive final : public SharedMessage {
 public:
  using SharedMessage::SharedMessage;
  bool step() override;

 private:
  bool done_ = false;
};

}  // namespace mpitron::comm

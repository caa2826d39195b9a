#include "inference/rank_adapters.h"

#include "autograd/cached_pass.h"
#include "checkpoint/plan/agreement.h"
#include "utils/check.h"

// Adapters of several ranks. The first rank knows which of them requests have; its list says which
// nobody has any more, so that the others can free their parts, too.

namespace mpitron::inference {

AdapterHandle read_together(comm::Group& all, const AdapterReader& read,
                            const std::string& folder) {
  AdapterHandle adapter;
  std::string error = checkpoint::error_of([&] { adapter = read(folder); });
  const double failed = all.reduce(error.empty() ? 0 : 1);
  if (!error.empty() && failed < static_cast<double>(all.size())) {
    error = fmt::format("rank {} cannot read it: {}", all.rank(), error);
  }
  checkpoint::throw_first_error(all, error);
  return adapter;
}

RankAdapters::RankAdapters(std::vector<AdapterHandle> adapters)
    : adapters_(std::move(adapters)), stay_(adapters_.size()) {}

void RankAdapters::add(AdapterHandle adapter) {
  const auto number = static_cast<std::size_t>(adapter->number());
  MPITRON_CHECK(number > stay_, number, stay_);
  adapters_.resize(std::max(adapters_.size(), number));
  adapters_[number - 1] = std::move(adapter);
}

void RankAdapters::drop(Index number) {
  const auto at = static_cast<std::size_t>(number) - 1;
  MPITRON_CHECK(at >= stay_ && at < adapters_.size(), number);
  adapters_[at].reset();
}

std::vector<Index> RankAdapters::unused() const {
  std::vector<Index> numbers;
  for (std::size_t i = stay_; i < adapters_.size(); ++i) {
    if (adapters_[i].use_count() == 1) {
      numbers.push_back(static_cast<Index>(i) + 1);
    }
  }
  return numbers;
}

}  // namespace mpitron::inference

#include "checkpoint/plan/agreement.h"

#include <algorithm>

#include "utils/error.h"

// Texts between ranks, by collectives of numbers: sizes first, then all bytes in one operation.
// Errors travel this way too, so that all ranks end with the same message.

namespace mpitron::checkpoint {
namespace {

device::TensorView bytes_of(std::string& text) {
  return {text.data(), DType::u8, {static_cast<Index>(text.size())}};
}

/// Returns every member's number.
std::vector<Index> gather_numbers(comm::Group& group, Index number) {
  std::vector<Index> numbers(static_cast<std::size_t>(group.size()));
  group.all_gather({&number, DType::i64, {1}}, {numbers.data(), DType::i64, {group.size()}}).wait();
  return numbers;
}

/// Cuts a text into the members' parts, each `step` bytes from the last, or right behind it for
/// step 0.
std::vector<std::string> cut(const std::string& all, const std::vector<Index>& sizes, Index step) {
  std::vector<std::string> texts;
  Index at = 0;
  for (const Index size : sizes) {
    texts.push_back(all.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(size)));
    at += step > 0 ? step : size;
  }
  return texts;
}

}  // namespace

std::string broadcast_text(comm::Group& group, const std::string& text, Index root) {
  auto size = static_cast<Index>(text.size());
  group.broadcast({&size, DType::i64, {1}}, root).wait();
  std::string copy = group.rank() == root ? text : std::string(static_cast<std::size_t>(size), ' ');
  if (size > 0) {
    group.broadcast(bytes_of(copy), root).wait();
  }
  return copy;
}

/// Texts are padded to the longest, since the collective takes equal sizes.
std::vector<std::string> gather_texts(comm::Group& group, const std::string& text) {
  const std::vector<Index> sizes = gather_numbers(group, static_cast<Index>(text.size()));
  const Index largest = *std::max_element(sizes.begin(), sizes.end());
  if (largest == 0) {
    return std::vector<std::string>(sizes.size());
  }
  std::string padded = text;
  padded.resize(static_cast<std::size_t>(largest));
  std::string all(static_cast<std::size_t>(largest * group.size()), ' ');
  group.all_gather(bytes_of(padded), bytes_of(all)).wait();
  return cut(all, sizes, largest);
}

std::vector<std::string> collect_texts(comm::Group& group, const std::string& text) {
  const auto members = static_cast<std::size_t>(group.size());
  const auto own_size = static_cast<Index>(text.size());
  const std::vector<Index> sizes = gather_numbers(group, own_size);
  std::vector<Index> sent(members), received(members);
  sent[0] = own_size;
  Index total = 0;
  if (group.rank() == 0) {
    received = sizes;
    for (const Index size : sizes) {
      total += size;
    }
  }
  std::string copy = text;
  std::string all(static_cast<std::size_t>(total), ' ');
  group.all_to_all(bytes_of(copy), bytes_of(all), sent, received).wait();
  return group.rank() == 0 ? cut(all, sizes, 0) : std::vector<std::string>();
}

std::string first_error(comm::Group& group, const std::string& error) {
  const Index none = group.size();
  Index first = error.empty() ? none : group.rank();
  group.all_reduce({&first, DType::i64, {1}}, comm::Reduction::minimum).wait();
  return first == none ? std::string() : broadcast_text(group, error, first);
}

void throw_first_error(comm::Group& group, const std::string& error) {
  if (const std::string first = first_error(group, error); !first.empty()) {
    throw Error(ExitCode::data, first, true);
  }
}

}  // namespace mpitron::checkpoint

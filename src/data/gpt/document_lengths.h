#pragma once
#include <algorithm>
#include <thread>
#include <utility>

#include "data/gpt/gpt_index.h"
#include "data/index/ordered_pipeline.h"

namespace mpitron::data {

inline constexpr std::size_t kAhead = 32;  // documents whose lengths are on their way
inline constexpr std::size_t kDocumentBlock = std::size_t{1} << 16;  // of one thread at a time
inline constexpr std::size_t kMostThreads = 16;

/// Calls use(d, length) for the documents in order. Their order is random, and the lengths of a
/// large corpus are not in cache: threads fetch them, a block each.
template <class Document, class Use>
void for_lengths(const io::PackedArray<std::int32_t>& lengths, std::span<const Document> documents,
                 const Use& use) {
  struct Block {
    std::size_t begin = 0;
    std::vector<std::int32_t> lengths;
  };
  const std::size_t blocks = documents.size() / kDocumentBlock + 1;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads = std::min({blocks, cores, kMostThreads});
  std::size_t next = 0;
  OrderedPipeline<Block>(static_cast<int>(threads))
      .run(
          [&](Block& block) {
            block.begin = std::exchange(next, next + kDocumentBlock);
            return block.begin < documents.size();
          },
          [&](int, Block& block) {
            const auto own = documents.subspan(
                block.begin, std::min(kDocumentBlock, documents.size() - block.begin));
            block.lengths.resize(own.size());
            for (std::size_t i = 0; i < own.size(); ++i) {
              const std::size_t ahead = std::min(i + kAhead, own.size() - 1);
              __builtin_prefetch(lengths.bytes().data() + 4 * static_cast<std::size_t>(own[ahead]));
              block.lengths[i] = lengths[static_cast<Index>(own[i])];
            }
          },
          [&](const Block& block) {
            for (std::size_t i = 0; i < block.lengths.size(); ++i) {
              use(block.begin + i, Index{block.lengths[i]});
            }
          });
}

}  // namespace mpitron::data

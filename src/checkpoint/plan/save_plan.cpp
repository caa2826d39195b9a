#include "checkpoint/plan/save_plan.h"

#include <algorithm>
#include <numeric>

#include "checkpoint/plan/replicas.h"

// Decides who writes what. Every byte is written once, by one of its holders, so that all write
// about as much and each writes long runs. A rank's columns of a row-major tensor are short; bands
// of whole rows are therefore gathered on one rank, which writes them in one go.

namespace mpitron::checkpoint {
namespace {

/// A stretch of a data set that lies together in the file and in each holder's memory.
struct Segment {
  Index data_set = 0;
  Index map = 0;
  Index begin = 0, end = 0;  // of the data set
  Index local = 0;           // of the shard, flat, at begin
  Index replicas = 0;        // index into the planner's replicas
};

/// Whole rows, and for each shard of the data set those who hold it in all of them.
struct Band {
  Index data_set = 0;
  Index begin_row = 0, end_row = 0;
  std::vector<Index> replicas;  // of each shard: index into the planner's replicas
  const std::vector<ShardHolders>* shards = nullptr;
};

Source source_of(const Holder& holder, Index map, Index local) {
  return {holder.rank, holder.item, local - holder.begin, map};
}

/// Deals the ranges of all data sets out: first what only one rank can write, then the rest, large
/// ranges first, to those who have least so far.
class Planner {
 public:
  Planner(const Holdings& holdings, const PlanOptions& options)
      : holdings_(holdings), options_(options), shards_(shards_by_data_set(holdings)) {
    plan_.rank_bytes.resize(static_cast<std::size_t>(holdings.ranks()));
  }

  SavePlan plan() {
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      add_data_set(static_cast<Index>(i));
    }
    // First what only one rank can write; the rest evens out the loads, large parts first.
    std::stable_sort(segments_.begin(), segments_.end(), [this](const auto& a, const auto& b) {
      const bool alone_a = holders(a.replicas).size() == 1;
      const bool alone_b = holders(b.replicas).size() == 1;
      return alone_a != alone_b ? alone_a : bytes(a) > bytes(b);
    });
    const auto shared = std::find_if(segments_.begin(), segments_.end(), [this](const auto& a) {
      return holders(a.replicas).size() > 1;
    });
    std::for_each(segments_.begin(), shared, [this](const Segment& s) { share_segment(s); });
    for (const Band& band : bands_) {
      share_band(band);
    }
    std::for_each(shared, segments_.end(), [this](const Segment& s) { share_segment(s); });
    std::sort(plan_.pieces.begin(), plan_.pieces.end(), [](const Piece& a, const Piece& b) {
      return a.data_set != b.data_set ? a.data_set < b.data_set : a.begin < b.begin;
    });
    return std::move(plan_);
  }

 private:
  const ShardMap& map(Index i) const { return holdings_.maps[static_cast<std::size_t>(i)]; }
  const Replicas& replicas(Index i) const { return replicas_[static_cast<std::size_t>(i)]; }
  const std::vector<Holder>& holders(Index i) const { return replicas(i).holders; }
  Index element(Index data_set) const {
    return static_cast<Index>(
        size_of(holdings_.data_sets[static_cast<std::size_t>(data_set)].dtype));
  }
  Index bytes(const Segment& segment) const {
    return (segment.end - segment.begin) * element(segment.data_set);
  }
  Index& load(Index rank) { return plan_.rank_bytes[static_cast<std::size_t>(rank)]; }

  /// Cuts a data set into segments or, where its columns are too short to write alone, into rows.
  void add_data_set(Index data_set) {
    const std::vector<ShardHolders>& shards = shards_[static_cast<std::size_t>(data_set)];
    const std::string& name = holdings_.data_sets[static_cast<std::size_t>(data_set)].name;
    std::vector<std::vector<Index>> parts(shards.size());  // of each shard
    Index shortest = options_.least_write;
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const ShardMap& shard = map(shards[i].map);
      for (Replicas& part : split_into_replicas(name, shard.numel(), shards[i].holders)) {
        parts[i].push_back(static_cast<Index>(replicas_.size()));
        replicas_.push_back(std::move(part));
      }
      for (const ShardMap::Column& column : shard.columns) {
        shortest = std::min(shortest, column.size() * element(data_set));
      }
    }
    const Index rows = map(shards.front().map).rows;
    if (rows > 1 && shortest < options_.least_write) {
      add_rows(data_set, rows, parts);
      return;
    }
    for (std::size_t i = 0; i < shards.size(); ++i) {
      for (const Index part : parts[i]) {
        add_segments(data_set, shards[i].map, part, replicas(part).begin, replicas(part).end);
      }
    }
  }

  /// Adds elements [begin, end) of a shard, all held by the same ranks.
  void add_segments(Index data_set, Index shard, Index part, Index begin, Index end) {
    map(shard).for_each_run(begin, end, [&](Index global, Index local, Index count) {
      segments_.push_back({data_set, shard, global, global + count, local, part});
    });
  }

  /// Makes bands of the rows between those in which some shard's part ends; those rows are written
  /// as they are.
  void add_rows(Index data_set, Index rows, const std::vector<std::vector<Index>>& parts) {
    const std::vector<ShardHolders>& shards = shards_[static_cast<std::size_t>(data_set)];
    std::vector<Index> ends = {0, rows};
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const Index width = map(shards[i].map).width();
      for (const Index part : parts[i]) {
        ends.push_back(replicas(part).end / width);
        ends.push_back((replicas(part).end + width - 1) / width);
      }
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    std::vector<std::size_t> at(shards.size());  // the first part that ends behind the row
    for (std::size_t k = 0; k + 1 < ends.size(); ++k) {
      Band band{data_set, ends[k], ends[k + 1], {}, &shards};
      bool whole = true;
      for (std::size_t i = 0; i < shards.size(); ++i) {
        const Index width = map(shards[i].map).width();
        while (replicas(parts[i][at[i]]).end <= band.begin_row * width) {
          ++at[i];
        }
        whole = whole && replicas(parts[i][at[i]]).end >= band.end_row * width;
        band.replicas.push_back(parts[i][at[i]]);
      }
      if (whole) {
        bands_.push_back(std::move(band));
      } else {
        add_broken_rows(band, parts, at);
      }
    }
  }

  /// Adds the rows in which a shard's part ends as segments: no rank holds all of such a row's
  /// columns alike.
  void add_broken_rows(const Band& band, const std::vector<std::vector<Index>>& parts,
                       const std::vector<std::size_t>& at) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Index shard = (*band.shards)[i].map;
      const Index width = map(shard).width();
      const Index begin = band.begin_row * width, end = band.end_row * width;
      for (std::size_t k = at[i]; k < parts[i].size() && replicas(parts[i][k]).begin < end; ++k) {
        const Replicas& part = replicas(parts[i][k]);
        add_segments(band.data_set, shard, parts[i][k], std::max(begin, part.begin),
                     std::min(end, part.end));
      }
    }
  }

  /// Deals a segment out to its holders, with cuts at multiples of the alignment.
  void share_segment(const Segment& segment) {
    const std::vector<Holder>& candidates = holders(segment.replicas);
    std::vector<Index> loads;
    for (const Holder& holder : candidates) {
      loads.push_back(load(holder.rank));
    }
    const Index size = element(segment.data_set);
    const Index unit = std::max<Index>(1, options_.alignment / size);
    const Index least = options_.least_write + options_.alignment;  // cuts move by up to that
    Index begin = segment.begin;
    Index wanted = 0;
    for (const Share& share : even_shares(bytes(segment), least, loads)) {
      wanted += share.bytes;
      const Index end =
          wanted == bytes(segment) ? segment.end : (segment.begin + wanted / size) / unit * unit;
      const Holder& holder = candidates[static_cast<std::size_t>(share.candidate)];
      add_piece({holder.rank,
                 segment.data_set,
                 begin,
                 end,
                 0,
                 {source_of(holder, segment.map, segment.local + (begin - segment.begin))}});
      begin = end;
    }
  }

  /// Deals the rows of a band out to all who hold columns of it.
  void share_band(const Band& band) {
    std::vector<Index> ranks;
    for (const Index part : band.replicas) {
      for (const Holder& holder : holders(part)) {
        ranks.push_back(holder.rank);
      }
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    std::vector<Index> loads;
    for (const Index rank : ranks) {
      loads.push_back(load(rank));
    }
    const Index row_bytes = map(band.shards->front().map).row_width * element(band.data_set);
    const Index rows = band.end_row - band.begin_row;
    const std::vector<Share> shares =
        even_shares(rows * row_bytes, options_.least_write + row_bytes, loads);
    Index begin = band.begin_row;
    Index wanted = 0;
    for (const Share& share : shares) {
      wanted += share.bytes;
      const bool last = &share == &shares.back();
      const Index end = last ? band.end_row : band.begin_row + wanted / row_bytes;
      add_gathered(band, ranks[static_cast<std::size_t>(share.candidate)], begin, end);
      begin = end;
    }
  }

  /// Adds rows [begin, end) for `writer`, in pieces of a bounded size.
  void add_gathered(const Band& band, Index writer, Index begin, Index end) {
    const Index row_width = map(band.shards->front().map).row_width;
    const Index most =
        std::max<Index>(1, options_.largest_rows / (row_width * element(band.data_set)));
    const Index pieces = (end - begin + most - 1) / most;
    for (Index i = 0; i < pieces; ++i) {
      const Index from = begin + (end - begin) * i / pieces;
      const Index to = begin + (end - begin) * (i + 1) / pieces;
      Piece piece{writer, band.data_set, from * row_width, to * row_width, to - from, {}};
      for (std::size_t k = 0; k < band.replicas.size(); ++k) {
        const Index shard = (*band.shards)[k].map;
        piece.sources.push_back(source_of(nearest(holders(band.replicas[k]), writer), shard,
                                          from * map(shard).width()));
      }
      add_piece(std::move(piece));
    }
  }

  /// Returns the holder with the nearest number: near ranks share a node more often than far ones.
  static const Holder& nearest(const std::vector<Holder>& holders, Index rank) {
    const auto above = std::lower_bound(holders.begin(), holders.end(), rank,
                                        [](const Holder& a, Index r) { return a.rank < r; });
    if (above == holders.end()) {
      return holders.back();
    }
    if (above == holders.begin() || above->rank - rank <= rank - std::prev(above)->rank) {
      return *above;
    }
    return *std::prev(above);
  }

  void add_piece(Piece piece) {
    load(piece.rank) += (piece.end - piece.begin) * element(piece.data_set);
    plan_.pieces.push_back(std::move(piece));
  }

  const Holdings& holdings_;
  const PlanOptions options_;
  const std::vector<std::vector<ShardHolders>> shards_;
  std::vector<Replicas> replicas_;
  std::vector<Segment> segments_;
  std::vector<Band> bands_;
  SavePlan plan_;
};

}  // namespace

Index SavePlan::total_bytes() const {
  return std::accumulate(rank_bytes.begin(), rank_bytes.end(), Index{0});
}

double SavePlan::imbalance() const {
  const Index total = total_bytes();
  if (total == 0) {
    return 1;
  }
  const Index largest = *std::max_element(rank_bytes.begin(), rank_bytes.end());
  return static_cast<double>(largest) * static_cast<double>(rank_bytes.size()) /
         static_cast<double>(total);
}

SavePlan plan_save(const Holdings& holdings, const PlanOptions& options) {
  return Planner(holdings, options).plan();
}

}  // namespace mpitron::checkpoint

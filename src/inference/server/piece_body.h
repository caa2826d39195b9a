#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>

namespace mpitron::inference {

/// A body while it arrives, in pieces of one size: nothing is copied while it grows, and the freed
/// pieces of one body serve any other.
class BodyPieces {
 public:
  static constexpr std::size_t kPiece = std::size_t{16} << 10;

  void append(std::string_view text) {
    while (!text.empty()) {
      if (pieces_.empty() || pieces_.back().size() == kPiece) {
        pieces_.emplace_back().reserve(kPiece);
      }
      const std::size_t count = std::min(text.size(), kPiece - pieces_.back().size());
      pieces_.back().append(text.substr(0, count));
      text.remove_prefix(count);
    }
  }
  /// Bytes of memory.
  std::size_t memory() const { return pieces_.size() * kPiece; }
  /// All of it as one text, piece by piece; nothing stays here.
  std::string take() {
    std::string text;
    text.reserve(memory());
    for (std::string& each : pieces_) {
      const std::string piece = std::move(each);
      text += piece;
    }
    pieces_.clear();
    return text;
  }

 private:
  std::vector<std::string> pieces_;
};

/// How Beast's parser fills them (its concept Body).
struct PieceBody {
  using value_type = BodyPieces;

  class reader {  // NOLINT(readability-identifier-naming): Beast's name
   public:
    template <bool kRequest, class Fields>
    reader(boost::beast::http::header<kRequest, Fields>& /*head*/, value_type& body)
        : body_(body) {}

    void init(const boost::optional<std::uint64_t>& /*length*/, boost::system::error_code& error) {
      error = {};
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::system::error_code& error) {
      error = {};
      std::size_t count = 0;
      for (const auto buffer : boost::beast::buffers_range_ref(buffers)) {
        body_.append({static_cast<const char*>(buffer.data()), buffer.size()});
        count += buffer.size();
      }
      return count;
    }
    void finish(boost::system::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

}  // namespace mpitron::inference
